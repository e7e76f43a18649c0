package reload

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCredentialsAreReadForEveryRequest(t *testing.T) {
	var got atomic.Value
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization") + " " + r.Header.Get("X-Scope"))
		if r.Host == "tenant.example" {
			got.Store(r.Host)
		}
	})
	password := write(t, "password", "one\n")
	basic := func(c *ClientOptions) {
		c.UsernameFile, c.PasswordFile = write(t, "user", "me"), password
		c.HeaderFiles = map[string]string{"X-Scope": write(t, "scope", "tenant\r\n")}
	}
	token := func(c *ClientOptions) { c.BearerTokenFile = write(t, "token", "abc") }
	o := prometheus(t, s.URL)
	o.Ready, o.Info = nil, nil
	check := func(o HTTPOptions, want string) {
		t.Helper()
		if err := NewHTTP(o).Reload(t.Context(), Request{}); err != nil || got.Load() != want {
			t.Errorf("server saw %q (%v), want %q", got.Load(), err, want)
		}
	}
	withBasic, withToken, inURL := o, o, o
	basic(&withBasic.Client)
	token(&withToken.Client)
	inURL.URL = mustURL(t, strings.Replace(s.URL, "http://", "http://u:p@", 1))
	check(withBasic, "Basic bWU6b25l tenant")
	if err := os.WriteFile(password, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(withBasic, "Basic bWU6dHdv tenant")
	check(withToken, "Bearer abc ")
	check(inURL, "Basic dTpw ")
	withHost := o
	withHost.Client.HeaderFiles = map[string]string{"Host": write(t, "host", "tenant.example\n")}
	check(withHost, "tenant.example")
}

// A pipe in place of a file does not block reloads, and a large file does not fill the memory.
func TestCredentialsAreSmallFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := write(t, "large", "")
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	good := write(t, "good", "x")
	for file, want := range map[string]string{pipe: "want a regular file", large: "more than 1048576 bytes"} {
		for name, c := range map[string]ClientOptions{
			"CA":          {CAFile: file},
			"certificate": {CertFile: file, KeyFile: good},
			"key":         {CertFile: good, KeyFile: file},
			"user":        {UsernameFile: file},
			"password":    {UsernameFile: good, PasswordFile: file},
			"token":       {BearerTokenFile: file},
			"header":      {HeaderFiles: map[string]string{"X-Scope": file}},
		} {
			c.Timeout = time.Second
			resp, err := c.Get(t.Context(), mustURL(t, "http://127.0.0.1:1"), nil)
			if err == nil || !strings.HasSuffix(err.Error(), want) || ReasonOf(err) != BadRequest {
				t.Errorf("%s: %v, %v, want %s", name, resp, err, want)
			}
		}
	}
}

func TestServerCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = nil
	defer s.Close()
	ca := write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for name, tc := range map[string]struct {
		edit func(*ClientOptions)
		want string
	}{
		"unknown authority":           {func(*ClientOptions) {}, "certificate"},
		"verification off":            {func(c *ClientOptions) { c.SkipVerify = true }, ""},
		"own authority":               {func(c *ClientOptions) { c.CAFile = ca }, ""},
		"own authority, other name":   {func(c *ClientOptions) { c.CAFile = ca; c.ServerName = "elsewhere" }, "elsewhere"},
		"own authority wins over off": {func(c *ClientOptions) { c.CAFile = ca; c.ServerName = "elsewhere"; c.SkipVerify = true }, "elsewhere"},
		"no CA file":                  {func(c *ClientOptions) { c.CAFile = "/none" }, "CA: open /none"},
		"CA file without certificate": {func(c *ClientOptions) { c.CAFile = write(t, "ca", "x") }, "CA: no certificate in"},
		"no client certificate":       {func(c *ClientOptions) { c.CertFile, c.KeyFile = "/none", "/none" }, "client certificate: open /none"},
	} {
		t.Run(name, func(t *testing.T) {
			o := prometheus(t, s.URL)
			tc.edit(&o.Client)
			err := NewHTTP(o).Reload(t.Context(), Request{})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Reload = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestValidateClient(t *testing.T) {
	for name, tc := range map[string]struct {
		o  ClientOptions
		ok bool
	}{
		"nothing":            {ClientOptions{}, true},
		"pair":               {ClientOptions{CertFile: "c", KeyFile: "k"}, true},
		"half a pair":        {ClientOptions{CertFile: "c"}, false},
		"user only":          {ClientOptions{UsernameFile: "u"}, true},
		"password only":      {ClientOptions{PasswordFile: "p"}, false},
		"user and a token":   {ClientOptions{UsernameFile: "u", BearerTokenFile: "t"}, false},
		"token and a pair":   {ClientOptions{BearerTokenFile: "t", CertFile: "c", KeyFile: "k"}, true},
		"key without a cert": {ClientOptions{KeyFile: "k"}, false},
	} {
		if err := tc.o.Validate(); (err == nil) != tc.ok {
			t.Errorf("%s: Validate = %v", name, err)
		}
	}
}

func TestURLs(t *testing.T) {
	for in, want := range map[string]string{
		"http://localhost:9090/-/reload":                "http://localhost:9090/-/ready",
		"https://u:p@h/a%20b/-/reload?token=secret#top": "https://u:p@h/a%20b/-/ready",
		"http://localhost:9090/prom%3Fx/-/reload":       "http://localhost:9090/prom%3Fx/-/ready",
		"http://localhost:9090/größe/-/reload":          "http://localhost:9090/gr%C3%B6%C3%9Fe/-/ready",
		"http://h/p/api/v1/status/runtimeinfo":          "http://h/p/-/ready",
		"http://localhost:9090/reload":                  "",
		"http://localhost:9090":                         "",
	} {
		got := ""
		if u := Derive(mustURL(t, in), "/-/ready"); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("Derive(%s) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"http://user:pass@h/p?token=s#f": "http://xxxxx@h/p?xxxxx",
		"http://h/p":                     "http://h/p",
	} {
		if got := Redact(mustURL(t, in)); got != want {
			t.Errorf("Redact(%s) = %s, want %s", in, got, want)
		}
	}
	for _, bad := range []string{"http://user:hunter2", "localhost:9090/hunter2", "ftp://hunter2/", "http://", "hunter2", "http://u:hunter2@[::1"} {
		if _, err := ParseURL(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseURL(%q) = %v", bad, err)
		}
	}
	for in, want := range map[string]bool{
		"http://localhost:1": true, "http://LocalHost.": true, "http://a.localhost": true, "http://127.0.0.9": true, "http://[::1]:80": true,
		"http://10.0.0.1": false, "http://localhost.example.com": false, "http://prometheus": false,
	} {
		if got := Loopback(mustURL(t, in)); got != want {
			t.Errorf("Loopback(%s) = %v", in, got)
		}
	}
}
