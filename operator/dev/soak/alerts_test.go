package soak

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver gets the alerts of all tenants, each at a path of its own.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	messages int
	expected map[string]time.Time // "tenant/alert": since when
	came     map[string]bool
	resolved []string             // anchors, which fire all the time
	foreign  []string             // alerts at the path of another tenant
	anchors  map[string]time.Time // last message about the anchor of a tenant
	gap      time.Duration        // longest time without such a message
	slowest  time.Duration        // until an alert came for the first time
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{expected: map[string]time.Time{}, came: map[string]bool{}, anchors: map[string]time.Time{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP receives a message.
func (r *receiver) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	var message struct {
		Alerts []struct {
			Status string
			Labels map[string]string
		}
	}
	if err := json.NewDecoder(q.Body).Decode(&message); err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages++
	tenant := strings.TrimPrefix(q.URL.Path, "/")
	for _, a := range message.Alerts {
		name := tenant + "/" + a.Labels["alertname"]
		switch {
		case a.Labels["namespace"] != tenant:
			r.foreign = append(r.foreign, fmt.Sprintf("%s with %v", name, a.Labels))
		case a.Labels["alertname"] == "Anchor":
			if a.Status != "firing" {
				r.resolved = append(r.resolved, name)
			}
			if last, ok := r.anchors[tenant]; ok {
				r.gap = max(r.gap, time.Since(last))
			}
			r.anchors[tenant] = time.Now()
		case !r.came[name] && !r.expected[name].IsZero():
			r.came[name], r.slowest = true, max(r.slowest, time.Since(r.expected[name]))
		}
	}
}

// expect records that an alert has to arrive.
func (r *receiver) expect(tenant, alert string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected[tenant+"/"+alert] = time.Now()
}

// fired reports whether an alert has arrived.
func (r *receiver) fired(tenant, alert string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.came[tenant+"/"+alert]
}

// left returns the alerts that have not arrived.
func (r *receiver) left() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.expected {
		if !r.came[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// anchored returns the number of tenants whose anchor came.
func (r *receiver) anchored() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.anchors)
}
