package engine

import (
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// refusedRetry is the interval at which one of the refused objects is tried, and the shortest one between two attempts for
// all of them.
const refusedRetry = 10 * time.Second

// refused are the objects whose last reconciliation the API server refused: permissions are missing, or a quota is used
// up. No event reports when that changes, and the pauses of each object grow up to minutes. So one of them after the
// other is tried in between, and when one succeeds, all are. It is safe for concurrent use.
type refused struct {
	enqueue func(types.NamespacedName)

	mu    sync.Mutex
	keys  []types.NamespacedName // the one that waits longest first
	timer *time.Timer            // of the next attempt; nil if none is scheduled
	woken time.Time              // last time that all were tried
	ended bool
}

// note records the result of a reconciliation.
func (r *refused) note(key types.NamespacedName, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.keys, key)
	switch {
	case apierrors.IsForbidden(err):
		if at < 0 {
			r.keys = append(r.keys, key)
		}
		r.schedule()
	case at >= 0:
		r.keys = slices.Delete(r.keys, at, at+1)
		if now := time.Now(); err == nil && now.Sub(r.woken) >= refusedRetry {
			r.woken = now
			for _, other := range r.keys {
				r.enqueue(other)
			}
		}
	}
}

// next tries the object that waits longest.
func (r *refused) next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if len(r.keys) == 0 {
		return
	}
	key := r.keys[0]
	r.keys = append(r.keys[1:], key)
	r.schedule() // so that attempts continue if this one is delayed
	r.enqueue(key)
}

// schedule schedules the next attempt unless one is scheduled already. r.mu must be held.
func (r *refused) schedule() {
	if r.timer == nil && !r.ended {
		r.timer = time.AfterFunc(refusedRetry, r.next)
	}
}

// end ends the attempts.
func (r *refused) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = true; r.timer != nil {
		r.timer.Stop()
	}
}
