// Package reloadtest has a server that reloads like Prometheus, for tests of
// programs that make one reload.
package reloadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 15 * time.Second

// Server answers /-/ready, /-/reload and /api/v1/status/runtimeinfo. Reloads run one
// at a time and are not cancelled when the client goes away, as in Prometheus.
type Server struct {
	*httptest.Server
	load func() error

	loading sync.Mutex // held during a reload

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change below
	notReady bool
	requests int // reload requests that arrived
	open     int // of those, not answered yet
	mostOpen int
	loaded   int // successful reloads
	failed   bool
	loadedAt time.Time
	lastSeen time.Time
}

// New starts a server that calls load for every reload; an error makes it answer 500.
func New(t testing.TB, load func() error) *Server { return start(t, load, httptest.NewServer) }

// NewTLS is New with a self-signed certificate.
func NewTLS(t testing.TB, load func() error) *Server { return start(t, load, httptest.NewTLSServer) }

func start(t testing.TB, load func() error, listen func(http.Handler) *httptest.Server) *Server {
	t.Helper()
	s := &Server{load: load, changed: make(chan struct{}), loadedAt: time.Now().Add(-time.Minute)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/ready", s.ready)
	mux.HandleFunc("POST /-/reload", s.reload)
	mux.HandleFunc("GET /api/v1/status/runtimeinfo", s.info)
	s.Server = listen(mux)
	t.Cleanup(s.Close)
	return s
}

// ReloadURL is the URL of the reload endpoint.
func (s *Server) ReloadURL() string { return s.URL + "/-/reload" }

// InfoURL is the URL of the runtimeinfo endpoint.
func (s *Server) InfoURL() string { return s.URL + "/api/v1/status/runtimeinfo" }

// SetReady makes the server say that it is ready, or still starting.
func (s *Server) SetReady(ready bool) { s.update(func() { s.notReady = !ready }) }

// Stats are counts since the start.
type Stats struct {
	Requests, Loaded, MostOpen int
	LastRequest                time.Time // when the last reload request arrived
}

// Stats returns the counts.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{s.requests, s.loaded, s.mostOpen, s.lastSeen}
}

// Wait returns once cond holds for the counts; otherwise the test ends.
func (s *Server) Wait(t testing.TB, what string, cond func(Stats) bool) Stats {
	t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		stats := s.Stats()
		if cond(stats) {
			return stats
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("waited in vain for %s: %+v", what, stats)
		}
	}
}

// Reload does what a request would do, for servers that are signalled.
func (s *Server) Reload() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	err := s.load()
	s.update(func() {
		s.failed = err != nil
		if err == nil {
			s.loaded++
			s.loadedAt = time.Now()
		}
	})
	return err
}

func (s *Server) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notReady {
		http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
	}
}

func (s *Server) reload(w http.ResponseWriter, _ *http.Request) {
	s.update(func() {
		s.requests++
		s.open++
		s.mostOpen = max(s.mostOpen, s.open)
		s.lastSeen = time.Now()
	})
	defer s.update(func() { s.open-- })
	if err := s.Reload(); err != nil {
		http.Error(w, "failed to reload config: "+err.Error(), http.StatusInternalServerError)
	}
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(w, `{"status":"success","data":{"reloadConfigSuccess":%t,"lastConfigTime":%q}}`,
		!s.failed, s.loadedAt.UTC().Format(time.RFC3339))
}
