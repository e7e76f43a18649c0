package feed

import (
	"crypto/sha256"
	"errors"
	"maps"
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
	// maxReviews is the maximum number of concurrent identifications of callers, maxReviewsOf those from one address,
	// and maxStrangers those from addresses without a recent valid token.
	maxReviews   = 16
	maxReviewsOf = 4
	maxStrangers = 8
	// maxFailures is the number of failed identifications that one address may cause in a burst, with one more each
	// failureEvery. It does not apply to tokens that were valid within knownFor.
	maxFailures  = 5
	failureEvery = 10 * time.Second
	knownFor     = time.Hour
	// maxKnown is the maximum number of remembered addresses, and of remembered tokens.
	maxKnown = 10_000
)

var (
	errBusy    = &refusal{http.StatusTooManyRequests, "too many requests at a time", 2 * time.Second}
	errFailing = &refusal{http.StatusTooManyRequests, "too many requests from this address had no valid token of a pod that gets targets", failureEvery}
)

// reviews limits identifications of callers: each costs requests to the API server, for which pods without
// a valid token must leave room. The zero value is ready for use.
type reviews struct {
	mu        sync.Mutex
	open      int
	strangers int
	from      map[string]*address
	tokens    map[[sha256.Size]byte]time.Time // of successes
	swept     time.Time
}

// address has the recent requests of a client address.
type address struct {
	open     int
	failures float64   // that count at since
	since    time.Time // of failures
	success  time.Time // the last one
}

// failed returns the failures that count now.
func (a *address) failed(now time.Time) float64 {
	return max(0, a.failures-now.Sub(a.since).Seconds()/failureEvery.Seconds())
}

// start counts an identification until the returned function is called with its result.
//
// Errors: *refusal if there are too many.
func (r *reviews) start(now time.Time, from, token string) (end func(now time.Time, err error), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	if r.from == nil {
		r.from, r.tokens = map[string]*address{}, map[[sha256.Size]byte]time.Time{}
	}
	a := r.from[from]
	if a == nil {
		a = &address{}
	}
	hash := sha256.Sum256([]byte(token))
	at, valid := r.tokens[hash]
	valid = valid && now.Sub(at) < knownFor
	stranger := now.Sub(a.success) >= knownFor
	switch {
	case !valid && a.failed(now)+float64(a.open) > maxFailures-1:
		return nil, errFailing
	case r.open >= maxReviews || a.open >= maxReviewsOf || stranger && r.strangers >= maxStrangers:
		return nil, errBusy
	case r.from[from] == nil && len(r.from) >= maxKnown:
		return nil, errBusy
	}
	r.from[from] = a
	r.open++
	a.open++
	if stranger {
		r.strangers++
	}
	return func(now time.Time, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open--
		a.open--
		if stranger {
			r.strangers--
		}
		why, refused := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			a.success = now
			if len(r.tokens) < maxKnown {
				r.tokens[hash] = now
			}
		case refused && (why.code == http.StatusUnauthorized || why.code == http.StatusForbidden):
			a.failures, a.since = a.failed(now)+1, now
		}
	}, nil
}

// sweep removes entries that no longer count.
func (r *reviews) sweep(now time.Time) {
	if now.Sub(r.swept) < failureEvery {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.from, func(_ string, a *address) bool {
		return a.open == 0 && a.failed(now) == 0 && now.Sub(a.success) >= knownFor
	})
	maps.DeleteFunc(r.tokens, func(_ [sha256.Size]byte, at time.Time) bool { return now.Sub(at) >= knownFor })
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
	report  *PodReport // the last one; nil before the first
	// reported is the time of the last attempt to report.
	reported time.Time
	// listed is the time of its last inventory.
	listed time.Time
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

// yield makes room for a pod of a namespace: it ends the latest stream of the namespace with the most streams. It
// reports false if that would then have fewer streams than the other one.
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
