package informer

import (
	"cmp"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// refusals are the calls of one read that the API server forbids, by verb. A list that succeeds says nothing about watches,
// which reflectors try in turn; a watch begins with a list or follows one.
type refusals struct {
	mu   sync.Mutex
	last map[string]refusal // guarded
}

type refusal struct {
	since time.Time
	err   error
}

// record records whether a call is forbidden, unless it failed for another reason.
func (r *refusals) record(verb string, err error) {
	if err != nil && !apierrors.IsForbidden(err) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.last, verb)
		if verb == "watch" {
			clear(r.last)
		}
		return
	}
	if r.last == nil {
		r.last = map[string]refusal{}
	}
	r.last[verb] = refusal{cmp.Or(r.last[verb].since, time.Now()), err}
}

// lasting returns the error of a call that has been forbidden for at least readPatience: an API server that starts forbids
// what roles permit until it has read them.
func (r *refusals) lasting() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, verb := range []string{"list", "watch"} {
		if last, refused := r.last[verb]; refused && time.Since(last.since) >= readPatience {
			return last.err
		}
	}
	return nil
}

// Refused returns the namespaces, "" for all, that the operator may not read any more, with the refusals; what was read
// before is still in the store.
func (s *Store[T]) Refused() map[string]error {
	var out map[string]error
	for _, r := range s.reads {
		if err := r.refusals.lasting(); err != nil {
			if out == nil {
				out = map[string]error{}
			}
			out[r.namespace] = err
		}
	}
	return out
}
