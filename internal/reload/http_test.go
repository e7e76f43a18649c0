package reload

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
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
