package feed

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Limits of requests.
const (
	// maxStreams is the maximum number of open streams. When it is reached, the namespace with the most
	// streams yields to pods of others.
	maxStreams = 1500
	// maxOfPod is the maximum number of open streams of one pod; a further one ends the oldest, which
	// may be a connection that was lost unnoticed.
	maxOfPod = 2
	// maxStarts is the maximum number of streams that a pod may start within startsWithin.
	maxStarts    = 20
	startsWithin = 10 * time.Second
	// maxReviews is the maximum number of concurrent identifications of callers, maxReviewsOf those
	// from one address.
	maxReviews   = 16
	maxReviewsOf = 4
)

var errBusy = &refusal{http.StatusTooManyRequests, "too many requests at a time", 2 * time.Second}

// reviews limits concurrent identifications of callers.
type reviews struct {
	mu   sync.Mutex
	open int
	of   map[string]int // by address
}

// start counts one for an address until the returned function is called; ok is false if there are too
// many.
func (r *reviews) start(address string) (end func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open >= maxReviews || r.of[address] >= maxReviewsOf {
		return nil, false
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.open++
	r.of[address]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open--
		if r.of[address]--; r.of[address] == 0 {
			delete(r.of, address)
		}
	}, true
}

// streams are the open streams.
type streams struct {
	mu   sync.Mutex
	open int
	pods map[types.UID]*pod
}

// pod has the streams of one pod.
type pod struct {
	streams []*stream // oldest first
	starts  []time.Time
}

// enter counts a stream of a caller. It ends the oldest stream of a pod that has too many.
//
// Errors: *refusal.
func (s *streams) enter(now time.Time, st *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods == nil {
		s.pods = map[types.UID]*pod{}
	}
	for uid, p := range s.pods { // forget pods without streams
		p.starts = slices.DeleteFunc(p.starts, func(at time.Time) bool { return now.Sub(at) >= startsWithin })
		if len(p.streams)+len(p.starts) == 0 {
			delete(s.pods, uid)
		}
	}
	p := s.pods[st.caller.uid]
	if p == nil {
		p = &pod{}
		s.pods[st.caller.uid] = p
	}
	switch {
	case len(p.starts) >= maxStarts:
		return errBusy
	case len(p.streams) >= maxOfPod:
		p.streams[0].end()
		p.streams = p.streams[1:]
		s.open--
	case s.open >= maxStreams && !s.yield(st.caller.pod.Namespace):
		return later("too many streams are open", 15*time.Second)
	}
	p.starts = append(p.starts, now)
	p.streams = append(p.streams, st)
	s.open++
	return nil
}

// yield makes room for a pod of a namespace: it ends the latest stream of the namespace with the most ones,
// and reports whether that has more than the other would have then.
func (s *streams) yield(to string) bool {
	count := map[string]int{}
	latest := map[string]*pod{}
	for _, p := range s.pods {
		if len(p.streams) == 0 {
			continue
		}
		of := p.namespace()
		count[of] += len(p.streams)
		if last := latest[of]; last == nil || p.last().since.After(last.last().since) {
			latest[of] = p
		}
	}
	most := to
	for of, n := range count {
		if n > count[most] {
			most = of
		}
	}
	if count[most] <= count[to]+1 {
		return false
	}
	p := latest[most]
	p.last().end()
	p.streams = p.streams[:len(p.streams)-1]
	s.open--
	return true
}

func (p *pod) last() *stream { return p.streams[len(p.streams)-1] }

func (p *pod) namespace() string { return p.last().caller.pod.Namespace }

// leave ends the count of a stream.
func (s *streams) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[st.caller.uid]
	if p == nil {
		return
	}
	if i := slices.Index(p.streams, st); i >= 0 {
		p.streams = slices.Delete(p.streams, i, i+1)
		s.open--
	}
}

// all returns the open streams.
func (s *streams) all() (out []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		out = append(out, p.streams...)
	}
	return out
}
