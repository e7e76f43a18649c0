// Package reloadtest has a server that reloads like Prometheus, for tests of programs
// that trigger reloads.
package reloadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// patience is the maximum time that a test waits for an event that must occur.
const patience = time.Minute

// Server serves /-/ready, /-/reload and /api/v1/status/runtimeinfo. As in Prometheus,
// reloads run one at a time and are not canceled when the client disconnects.
type Server struct {
	*httptest.Server
	load func() error

	loading sync.Mutex // held during a reload

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when a field below changes
	notReady bool
	requests int // received reload requests
	open     int // of those, in flight
	mostOpen int
	loaded   int // successful reloads
	failed   bool
	loadedAt time.Time
	lastSeen time.Time
}

// New starts a server that calls load for every reload. If it returns an error, the
// status is 500.
func New(t testing.TB, load func() error) *Server { return start(t, load, httptest.NewServer) }

// NewTLS is like [New] with a self-signed certificate.
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

// ReloadURL returns the URL of the reload endpoint.
func (s *Server) ReloadURL() string { return s.URL + "/-/reload" }

// InfoURL returns the URL of the runtimeinfo endpoint.
func (s *Server) InfoURL() string { return s.URL + "/api/v1/status/runtimeinfo" }

// SetReady sets whether the server reports that it is ready or still starting.
func (s *Server) SetReady(ready bool) { s.update(func() { s.notReady = !ready }) }

// Stats are counters since the start.
type Stats struct {
	Requests, Loaded, MostOpen int
	LastRequest                time.Time // time of the last reload request
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{s.requests, s.loaded, s.mostOpen, s.lastSeen}
}

// Wait returns when cond holds for the counters. It fails the test on a timeout.
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

// Reload reloads like a request, for servers that are signaled.
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
