// Package scenetest has what tests with a real Prometheus scrape.
package scenetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Target records when it is scraped. Its server runs until the end of the test, so that a scrape that should not
// happen is recorded, too.
type Target struct {
	// Address is its host:port, and Name that of its pod.
	Address, Name string

	mu    sync.Mutex
	times []time.Time
}

// NewTarget starts a target.
func NewTarget(t testing.TB) *Target {
	s := &Target{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.times = append(s.times, time.Now())
		_, _ = io.WriteString(w, "up_and_running 1\n")
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.Address = strings.TrimPrefix(server.URL, "http://")
	s.Name = "web-" + s.Port()
	return s
}

// Port returns the port of its address.
func (s *Target) Port() string { return s.Address[strings.LastIndex(s.Address, ":")+1:] }

// Scrapes returns the times of all scrapes, in order.
func (s *Target) Scrapes() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}
