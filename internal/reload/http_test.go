package reload

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(targetVar) != "" {
		realTarget()
	}
	goleak.VerifyTestMain(m)
}

const (
	patienceInTests = 10 * time.Second
	// shortInTests is a timeout that expires in the test, but is long enough for a
	// response of a server in this process on a busy machine.
	shortInTests = 500 * time.Millisecond
)

// server records "METHOD path" of every request and passes it to h.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func serve(t *testing.T, h http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s.recording(h))
	t.Cleanup(s.Close)
	return s
}

func (s *server) recording(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		h(w, r)
	}
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// prometheus returns the options for a real server at base.
func prometheus(t *testing.T, base string) HTTPOptions {
	t.Helper()
	u := mustURL(t, base+"/-/reload")
	c := ClientOptions{Timeout: 5 * time.Second}
	return HTTPOptions{
		URL: u, Client: c, Ready: Derive(u, "/-/ready"),
		Info: &RuntimeInfo{URL: Derive(u, "/api/v1/status/runtimeinfo"), Client: c}, InfoOptional: true,
	}
}

func info(ok bool, at time.Time) string {
	return fmt.Sprintf(`{"status":"success","data":{"reloadConfigSuccess":%t,"lastConfigTime":%q}}`, ok, at.UTC().Format(time.RFC3339))
}

// One attempt has the expected outcome for each behavior of a server.
func TestOutcomes(t *testing.T) {
	type answers map[string]func(http.ResponseWriter)
	status := func(code int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code); fmt.Fprint(w, body) }
	}
	now := time.Now()
	for name, tc := range map[string]struct {
		answers answers
		edit    func(*HTTPOptions)
		reason  Reason
		text    []string
		seen    []string
	}{
		"ready, reloaded and verified": {
			answers: answers{"/-/ready": status(200, ""), "/-/reload": status(200, ""), "/api/v1/status/runtimeinfo": status(200, info(true, now))},
			seen:    []string{"GET /-/ready", "POST /-/reload", "GET /api/v1/status/runtimeinfo"},
		},
		"a server without these endpoints is trusted": {
			answers: answers{"/-/reload": status(200, "")},
			seen:    []string{"GET /-/ready", "POST /-/reload", "GET /api/v1/status/runtimeinfo"},
		},
		"not ready": {
			answers: answers{"/-/ready": status(503, "Service Unavailable")},
			reason:  NotReady, text: []string{"/-/ready answers 503"},
			seen: []string{"GET /-/ready"},
		},
		"refused with a reason": {
			answers: answers{"/-/reload": status(500, "failed to reload config: line 3:\n\tbad  thing")},
			reason:  Rejected, text: []string{"POST http://", "answered 500 Internal Server Error: failed to reload config: line 3: bad thing"},
		},
		"a long reason is cut": {
			answers: answers{"/-/reload": status(500, strings.Repeat("long ", 10000))},
			reason:  Rejected, text: []string{"long long"},
		},
		"lifecycle API off": {
			answers: answers{"/-/reload": status(403, "Lifecycle API is not enabled.")},
			reason:  Rejected, text: []string{"403 Forbidden (is the lifecycle API enabled?): Lifecycle API is not enabled."},
		},
		"wrong prefix": {
			answers: answers{}, reason: Rejected, text: []string{"404 Not Found (is the route prefix part of the URL?)"},
		},
		"a redirect is not followed": {
			answers: answers{"/-/reload": func(w http.ResponseWriter) {
				w.Header().Set("Location", "/prefix/-/reload?token=secret")
				w.WriteHeader(302)
			}},
			reason: Rejected, text: []string{"302 Found, a redirect to /prefix/-/reload?xxxxx that is not followed"},
			seen: []string{"GET /-/ready", "POST /-/reload"},
		},
		"200, but the server says it failed": {
			answers: answers{"/-/reload": status(200, ""), "/api/v1/status/runtimeinfo": status(200, info(false, now))},
			reason:  Rejected, text: []string{"answered 200 OK, but the server reports reloadConfigSuccess=false"},
		},
		"200, but nothing was loaded": {
			answers: answers{"/-/ready": status(200, ""), "/-/reload": status(200, ""), "/api/v1/status/runtimeinfo": status(200, info(true, now.Add(-time.Hour)))},
			reason:  Rejected, text: []string{"still runs what it loaded before"},
		},
		"verification that must work": {
			answers: answers{"/-/reload": status(200, "")},
			edit:    func(o *HTTPOptions) { o.InfoOptional = false },
			reason:  Unverified, text: []string{"could not be verified: ask http://", "answered 404 Not Found"},
		},
		"the connection ends during the reload": {
			answers: answers{"/-/ready": status(200, ""), "/-/reload": func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
			reason:  Unverified, text: []string{"POST http://", "although the request was sent", "EOF"},
			seen: []string{"GET /-/ready", "POST /-/reload"},
		},
		"the connection ends before": {
			answers: answers{"/-/ready": func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
			reason:  Unreachable, text: []string{"GET http://", "EOF"},
			seen: []string{"GET /-/ready"},
		},
		"other method and codes": {
			answers: answers{"/-/reload": status(204, "")},
			edit:    func(o *HTTPOptions) { o.Method = "PUT"; o.Success = []int{200, 204}; o.Ready = nil; o.Info = nil },
			seen:    []string{"PUT /-/reload"},
		},
		"a secret that cannot be read": {
			edit:   func(o *HTTPOptions) { o.Client.BearerTokenFile = "/does/not/exist" },
			reason: BadRequest, text: []string{"bearer token: open /does/not/exist"}, seen: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if answer, ok := tc.answers[r.URL.Path]; ok {
					answer(w)
					return
				}
				w.WriteHeader(404)
			})
			o := prometheus(t, s.URL)
			if tc.edit != nil {
				tc.edit(&o)
			}
			err := NewHTTP(o).Reload(t.Context(), Request{Version: "v"})
			if ReasonOf(err) != tc.reason || (err == nil) != (tc.reason == "") {
				t.Fatalf("Reload = %v (%q), want %q", err, ReasonOf(err), tc.reason)
			}
			for _, text := range tc.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q does not say %q", err, text)
				}
			}
			if err != nil && (len(err.Error()) > 2*excerptSize || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error of %d bytes: %v", len(err.Error()), err)
			}
			if tc.seen != nil && !slices.Equal(s.requests(), tc.seen) {
				t.Errorf("requests %v, want %v", s.requests(), tc.seen)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	err = NewHTTP(prometheus(t, "http://user:hunter2@"+l.Addr().String())).Reload(t.Context(), Request{})
	if ReasonOf(err) != Unreachable || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Reload = %v", err)
	}
}

// A response whose headers are longer than any server's is not read to its end.
func TestLongHeadersAreNotRead(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/"+strings.Repeat("x", 1<<20))
		w.WriteHeader(302)
	})
	o := prometheus(t, s.URL)
	o.Ready = nil
	err := NewHTTP(o).Reload(t.Context(), Request{Version: "v"})
	if ReasonOf(err) != Unverified || len(err.Error()) > 2*excerptSize {
		t.Errorf("Reload = %q with %d bytes", ReasonOf(err), len(err.Error()))
	}
}

// While a reload request is held back, attempts after the timeout wait for it instead of
// sending another one.
func TestOneRequestAtATime(t *testing.T) {
	var open, most atomic.Int64
	release := make(chan int)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" {
			return
		}
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		w.WriteHeader(<-release)
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	for i := range 3 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout {
			t.Fatalf("attempt %d = %v, want a timeout", i, err)
		}
	}
	outcome := make(chan error)
	h.opts.Client.Timeout = patienceInTests
	reload := func(version string) { outcome <- h.Reload(context.Background(), Request{Version: version}) }

	go reload("a")
	release <- 500
	if err := <-outcome; ReasonOf(err) != Rejected {
		t.Errorf("the late answer became %v, want the refusal", err)
	}

	h.opts.Client.Timeout = shortInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout {
		t.Fatalf("Reload = %v", err)
	}
	h.opts.Client.Timeout = patienceInTests
	go reload("b")
	release <- 200 // the response for a must not count for b
	release <- 200
	if err := <-outcome; err != nil {
		t.Errorf("Reload of the newer content = %v", err)
	}
	if most.Load() != 1 {
		t.Errorf("%d requests were open at once", most.Load())
	}
	posts := 0
	for _, r := range s.requests() {
		if r == "POST /-/reload" {
			posts++
		}
	}
	if posts != 3 {
		t.Errorf("%d requests sent, want 3: %v", posts, s.requests())
	}
}

// The response to a request for content that was replaced, and has come back, does not count: the server may have
// loaded what was there in between.
func TestLateAnswerForContentThatCameBack(t *testing.T) {
	release := make(chan int)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			w.WriteHeader(<-release)
		}
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	replaced := make(chan struct{})
	if err := h.Reload(t.Context(), Request{Version: "a", Superseded: replaced}); ReasonOf(err) != Timeout {
		t.Fatalf("Reload = %v, want a timeout", err)
	}
	close(replaced) // by b, and that by a
	h.opts.Client.Timeout = patienceInTests
	outcome := make(chan error)
	go func() {
		outcome <- h.Reload(context.Background(), Request{Version: "a", Superseded: make(chan struct{})})
	}()
	release <- 200
	select {
	case release <- 200:
		if err := <-outcome; err != nil {
			t.Errorf("Reload = %v", err)
		}
	case err := <-outcome:
		t.Errorf("Reload = %v without another request", err)
	}
}

func TestHungServerIsGivenUpInTheEnd(t *testing.T) {
	var posts atomic.Int64
	stop := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" && posts.Add(1) == 1 {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		}
	})
	defer close(stop)
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	h := NewHTTP(o)
	for range 2 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open == nil {
			t.Fatalf("Reload = %v", err)
		}
	}
	h.open.started = time.Now().Add(-time.Hour)
	if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open != nil {
		t.Errorf("the request was not given up: %v", err)
	}
	h.opts.Client.Timeout = patienceInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); err != nil || posts.Load() != 2 {
		t.Errorf("after %d requests: %v", posts.Load(), err)
	}
}

func TestServerThatIsNotReadyKeepsItsRequest(t *testing.T) {
	var posts atomic.Int64
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" {
			w.WriteHeader(503)
			return
		}
		posts.Add(1)
		<-release
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	h.notReadySince = time.Now().Add(-2 * patience)
	for range 3 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open == nil {
			t.Fatalf("Reload = %v", err)
		}
		h.open.started = time.Now().Add(-time.Hour)
	}
	close(release)
	h.opts.Client.Timeout = patienceInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); err != nil || posts.Load() != 1 {
		t.Errorf("after %d requests: %v", posts.Load(), err)
	}
}

// Behind a proxy whose clock is ahead, a load looks older than the request for it. It is recognized when the load time
// changes.
func TestTwoClocksBehindOneURL(t *testing.T) {
	var loads atomic.Int64
	var stuck atomic.Bool
	start := time.Now()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST" && !stuck.Load():
			loads.Add(1)
		case r.URL.Path == "/-/ready":
			w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		case r.URL.Path == infoPath:
			fmt.Fprint(w, info(true, start.Add(time.Duration(loads.Load())*time.Second)))
		}
	})
	h := NewHTTP(prometheus(t, s.URL))
	for i, step := range []struct {
		version string
		stuck   bool
		want    Reason
	}{
		{"a", false, Rejected}, {"a", false, ""}, {"b", false, ""}, {"c", true, Rejected}, {"c", true, Rejected}, {"c", false, ""}, {"d", false, ""},
	} {
		stuck.Store(step.stuck)
		if err := h.Reload(t.Context(), Request{Version: step.version}); ReasonOf(err) != step.want || (err == nil) != (step.want == "") {
			t.Errorf("step %d: %v, want %q", i, err, step.want)
		}
	}
}

// A server that ends and starts again has the whole time to become ready.
func TestPatienceBeginsWithEachStart(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	h := NewHTTP(prometheus(t, s.URL))
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != NotReady {
		t.Fatalf("Reload = %v", err)
	}
	h.notReadySince = h.notReadySince.Add(-2 * patience)
	up := h.opts.Ready
	h.opts.Ready = mustURL(t, "http://127.0.0.1:1/-/ready")
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != Unreachable {
		t.Fatalf("Reload = %v", err)
	}
	h.opts.Ready = up
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != NotReady {
		t.Errorf("Reload = %v, want another wait", err)
	}
}

func TestEndOfContextEndsTheRequest(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			close(arrived)
			<-r.Context().Done()
			close(gone)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if err := NewHTTP(prometheus(t, s.URL)).Reload(ctx, Request{}); err == nil {
		t.Error("no error")
	}
	select {
	case <-gone:
	case <-time.After(patienceInTests):
		t.Error("the request went on")
	}
}

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
