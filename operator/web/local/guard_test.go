package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/web/local"
)

// guarded returns a handler that responds "secret", behind the guard of an address.
func guarded(t *testing.T, address string) http.Handler {
	t.Helper()
	a, err := local.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return local.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") }), a)
}

// A name that resolves to this machine does not count as its address: another site could change the
// resolution after the browser has loaded its script (DNS rebinding).
func TestHosts(t *testing.T) {
	for name, tc := range map[string]struct {
		address string
		answers []string
		refuses []string
	}{
		"loopback": {"127.0.0.1:9099",
			[]string{"127.0.0.1:9099", "localhost:9099", "LocalHost:9099", "[::1]:9099", "127.0.0.2:9099"},
			[]string{"", "127.0.0.1", "127.0.0.1:80", "localhost:9098", "evil.example:9099", "localhost.evil.example:9099", "127.0.0.1.nip.io:9099", "10.0.0.7:9099", "0.0.0.0:9099", "127.0.0.1:9099:9099", "[::1", "localhost.:9099"}},
		"localhost": {"localhost:9099", []string{"127.0.0.1:9099", "localhost:9099", "[::1]:9099"}, []string{"laptop:9099"}},
		"IPv6":      {"[::1]:9099", []string{"[::1]:9099", "[0:0::1]:9099", "localhost:9099"}, []string{"[::2]:9099"}},
		"port 80":   {"127.0.0.1:80", []string{"127.0.0.1", "localhost", "localhost:80", "[::1]"}, []string{"evil.example", "localhost:9099"}},
		"one address of a network": {"10.0.0.7:9099",
			[]string{"10.0.0.7:9099"}, []string{"10.0.0.8:9099", "127.0.0.1:9099", "localhost:9099", "evil.example:9099"}},
		"a name of a network": {"laptop.example:9099", []string{"laptop.example:9099", "LAPTOP.example:9099"}, []string{"evil.example:9099", "127.0.0.1:9099"}},
		"all addresses": {":9099",
			[]string{"10.0.0.7:9099", "127.0.0.1:9099", "[fd00::1]:9099", "localhost:9099"}, []string{"evil.example:9099", "10.0.0.7:80"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := guarded(t, tc.address)
			ask := func(host string) *httptest.ResponseRecorder {
				r := httptest.NewRequest("GET", "/", nil)
				r.Host = host
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				return w
			}
			for _, host := range tc.answers {
				if w := ask(host); w.Code != 200 || w.Body.String() != "secret" {
					t.Errorf("Host %q: %d %s", host, w.Code, w.Body)
				}
			}
			for _, host := range tc.refuses {
				if w := ask(host); w.Code != 403 || strings.Contains(w.Body.String(), "secret") {
					t.Errorf("Host %q: %d %s", host, w.Code, w.Body)
				}
			}
		})
	}
}

// Requests from other sites are rejected, even read-only ones. Links to a page are accepted.
func TestOtherSites(t *testing.T) {
	const own = "http://127.0.0.1:9099"
	h := guarded(t, "127.0.0.1:9099")
	for name, tc := range map[string]struct {
		method  string
		headers string // NAME=VALUE, separated by spaces
		answers bool
	}{
		"a program":                    {"GET", "", true},
		"typed into the address bar":   {"GET", "Sec-Fetch-Site=none Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document", true},
		"a page of its own":            {"GET", "Sec-Fetch-Site=same-origin Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document", true},
		"its script":                   {"GET", "Sec-Fetch-Site=same-origin Sec-Fetch-Mode=cors Sec-Fetch-Dest=empty", true},
		"its form":                     {"POST", "Sec-Fetch-Site=same-origin Origin=" + own, true},
		"its form without referrer":    {"POST", "Sec-Fetch-Site=same-origin Origin=null", true},
		"a sandboxed form":             {"POST", "Sec-Fetch-Site=cross-site Origin=null Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document", false},
		"a program sends":              {"POST", "", true},
		"a link of a ticket":           {"GET", "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document", true},
		"a form of another site":       {"POST", "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=navigate Sec-Fetch-Dest=document", false},
		"a script of another site":     {"GET", "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=cors Sec-Fetch-Dest=empty", false},
		"without CORS":                 {"GET", "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=no-cors Sec-Fetch-Dest=script", false},
		"a frame":                      {"GET", "Sec-Fetch-Site=cross-site Sec-Fetch-Mode=navigate Sec-Fetch-Dest=iframe", false},
		"another port of this machine": {"GET", "Sec-Fetch-Site=same-site Sec-Fetch-Mode=cors Sec-Fetch-Dest=empty", false},
		"an unknown relation":          {"GET", "Sec-Fetch-Site=future", false},
		"an old browser":               {"GET", "Origin=http://evil.example", false},
		"another port, old browser":    {"POST", "Origin=http://127.0.0.1:3000", false},
		"another scheme":               {"GET", "Origin=https://127.0.0.1:9099", false},
		"another name of its own":      {"GET", "Origin=http://localhost:9099", false},
		"an opaque origin":             {"POST", "Origin=null", false},
		"a preflight":                  {"OPTIONS", "Origin=http://evil.example Access-Control-Request-Method=GET", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, own+"/x.json", nil)
			for pair := range strings.FieldsSeq(tc.headers) {
				name, value, _ := strings.Cut(pair, "=")
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if (w.Code == 200) != tc.answers {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			for _, header := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Private-Network"} {
				if got := w.Header().Get(header); got != "" {
					t.Errorf("%s: %s", header, got)
				}
			}
			if w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" || w.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" ||
				w.Header().Get("X-Frame-Options") != "DENY" {
				t.Errorf("headers %v", w.Header())
			}
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); !tc.answers && (err != nil || status.Kind != "Status" || status.Code != 403 || status.Message == "") {
				t.Errorf("not a Status: %s", w.Body)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for text, tc := range map[string]struct {
		loopback bool
		url      string
		wrong    string
	}{
		"127.0.0.1:9099":       {true, "http://127.0.0.1:9099/", ""},
		"127.8.0.1:9099":       {true, "http://127.8.0.1:9099/", ""},
		"localhost:9099":       {true, "http://localhost:9099/", ""},
		"[::1]:9099":           {true, "http://[::1]:9099/", ""},
		"127.0.0.1:80":         {true, "http://127.0.0.1/", ""},
		"0.0.0.0:9099":         {false, "http://127.0.0.1:9099/", ""},
		":9099":                {false, "http://127.0.0.1:9099/", ""},
		"[::]:9099":            {false, "http://127.0.0.1:9099/", ""},
		"10.0.0.7:9099":        {false, "http://10.0.0.7:9099/", ""},
		"laptop.example:9099":  {false, "http://laptop.example:9099/", ""},
		"[::ffff:127.0.0.1]:1": {true, "http://127.0.0.1:1/", ""},
		"9099":                 {wrong: "want host:port"},
		"127.0.0.1":            {wrong: "want host:port"},
		"127.0.0.1:http":       {wrong: "port"},
		"127.0.0.1:70000":      {wrong: "port"},
		"":                     {wrong: "want host:port"},
	} {
		a, err := local.Parse(text)
		switch {
		case tc.wrong != "":
			if err == nil || !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%q: %v, want %q", text, err, tc.wrong)
			}
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case a.IsLoopback() != tc.loopback || a.URL() != tc.url:
			t.Errorf("%q: loopback %t, %s", text, a.IsLoopback(), a.URL())
		}
	}
	a, err := local.Parse("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	if a = a.WithPort(4711); a.URL() != "http://localhost:4711/" || a.String() != "localhost:4711" {
		t.Errorf("with the port that it got: %s, %s", a.URL(), a)
	}
}
