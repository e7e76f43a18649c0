package faultproxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Match selects requests.
type Match func(Call) bool

// Any matches all requests.
func Any(Call) bool { return true }

// Only applies a fault to requests that match, and forwards the others.
func Only(match Match, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		if match(call) {
			f(w, r, call, forward)
			return
		}
		forward(w, r)
	}
}

// Tally counts how often a fault was applied, and reports when that was often enough.
type Tally struct {
	mu   sync.Mutex
	n    int
	by   map[Call]int
	want int
	full chan struct{}
}

// NewTally returns a Tally that is full after this number of applications.
func NewTally(want int) *Tally {
	return &Tally{want: want, full: make(chan struct{}), by: map[Call]int{}}
}

// Full is closed when the tally is full.
func (t *Tally) Full() <-chan struct{} { return t.full }

// N returns the number of applications so far.
func (t *Tally) N() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// add counts one application and returns their number for this call.
func (t *Tally) add(c Call) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	t.by[c]++
	if t.n == t.want {
		close(t.full)
	}
	return t.by[c]
}

// Counted counts the applications of a fault.
func Counted(t *Tally, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		t.add(call)
		f(w, r, call, forward)
	}
}

// Times applies a fault to the first n requests of each kind, and forwards later ones.
func Times(n int, t *Tally, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		if t.add(call) <= n {
			f(w, r, call, forward)
			return
		}
		forward(w, r)
	}
}

// Refuse answers with an error of the API server. after is the header Retry-After in seconds; 0 for none.
func Refuse(code int, reason metav1.StatusReason, after int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, call Call, _ http.HandlerFunc) {
		status := metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
			Message: "disturbed: " + call.String(), Details: &metav1.StatusDetails{Name: call.Name, Kind: call.Resource, RetryAfterSeconds: int32(after)},
		}
		w.Header().Set("Content-Type", "application/json")
		if after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(status)
	}
}

// BadGateway answers with a page of a proxy whose server is not available.
func BadGateway(w http.ResponseWriter, _ *http.Request, _ Call, _ http.HandlerFunc) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write([]byte("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"))
}

// Within forwards requests, and ends those that take longer.
func Within(limit time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ Call, forward http.HandlerFunc) {
		ctx, end := context.WithTimeout(r.Context(), limit)
		defer end()
		forward(w, r.WithContext(ctx))
	}
}

// Hold leaves requests unanswered until the client gives up or release is closed, which forwards them.
func Hold(release <-chan struct{}) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ Call, forward http.HandlerFunc) {
		select {
		case <-release:
			forward(w, r)
		case <-r.Context().Done():
		}
	}
}

// Slow forwards requests after a pause.
func Slow(pause time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ Call, forward http.HandlerFunc) {
		select {
		case <-time.After(pause):
			forward(w, r)
		case <-r.Context().Done():
		}
	}
}

// Cut forwards requests and breaks the connection in the middle of the response.
func Cut(w http.ResponseWriter, r *http.Request, _ Call, forward http.HandlerFunc) {
	forward(&truncatedBody{ResponseWriter: w}, r)
}

// Unanswered forwards requests and breaks the connection instead of responding.
func Unanswered(w http.ResponseWriter, r *http.Request, _ Call, forward http.HandlerFunc) {
	forward(&truncatedBody{ResponseWriter: w, all: true}, r)
}

// truncatedBody ends the request within the first part of the response.
type truncatedBody struct {
	http.ResponseWriter
	all bool // nothing is written
}

func (c *truncatedBody) WriteHeader(code int) {
	if !c.all {
		c.ResponseWriter.WriteHeader(code)
	}
}

func (c *truncatedBody) Write(b []byte) (int, error) {
	if !c.all {
		_, _ = c.ResponseWriter.Write(b[:len(b)/2])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
	}
	panic(http.ErrAbortHandler)
}

// Refused forwards requests and counts the writes that the API server refuses.
func Refused(t *Tally) Fault {
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		if !call.Writes() && !call.DryRun {
			forward(w, r)
			return
		}
		forward(&noting{ResponseWriter: w, refused: func() { t.add(call) }}, r)
	}
}

// noting calls refused for a response that is an error.
type noting struct {
	http.ResponseWriter
	refused func()
}

func (n *noting) WriteHeader(code int) {
	if code >= http.StatusBadRequest {
		n.refused()
	}
	n.ResponseWriter.WriteHeader(code)
}

func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// Forbidden forwards requests and counts those that the API server forbids.
func Forbidden(t *Tally) Fault {
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		forward(&noting{ResponseWriter: w, refused: func() { t.add(call) }}, r)
	}
}
