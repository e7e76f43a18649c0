// Package scenetest has what tests with a real Prometheus scrape.
package scenetest

import (
	"fmt"
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

	mu     sync.Mutex
	times  []Scrape
	series int
}

// Scrape is a scrape. By is the value of the parameter "by", by which servers can be distinguished. Series is the number of
// series [Metric] that it had.
type Scrape struct {
	At     time.Time
	By     string
	Series int
}

// Metric is the metric of which targets have as many series as a test wants. Its label is "number", its value the index of
// the scrape.
const Metric = "scraped"

// NewTarget starts a target.
func NewTarget(t testing.TB) *Target {
	s := &Target{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.times = append(s.times, Scrape{time.Now(), r.URL.Query().Get("by"), s.series})
		_, _ = io.WriteString(w, "up_and_running 1\n")
		for i := range s.series {
			_, _ = fmt.Fprintf(w, "%s{number=\"%d\"} %d\n", Metric, i, len(s.times)-1)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.Address = strings.TrimPrefix(server.URL, "http://")
	s.Name = "web-" + s.Port()
	return s
}

// SetSeries sets the number of series [Metric].
func (s *Target) SetSeries(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.series = n
}

// Port returns the port of its address.
func (s *Target) Port() string { return s.Address[strings.LastIndex(s.Address, ":")+1:] }

// Scrapes returns the times of all scrapes, in order.
func (s *Target) Scrapes() (out []time.Time) {
	for _, one := range s.All() {
		out = append(out, one.At)
	}
	return out
}

// All returns all scrapes, in order.
func (s *Target) All() []Scrape {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}
