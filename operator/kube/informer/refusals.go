package informer

import (
	"cmp"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// refusals are the calls of one read that the API server forbids, by verb. A successful list does not imply that
// watches, which reflectors try in turn, are permitted. A successful watch implies both, because it begins with a list
// or follows one.
type refusals struct {
	mu   sync.Mutex
	last map[string]refusal // guarded
}

type refusal struct {
	since time.Time
	err   error
}

// record records the result of a call, unless it is an error from which it is unknown whether the call is permitted.
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

// lasting returns the error of a call that has been forbidden for at least readPatience: an API server that starts
// forbids permitted calls until it has read the roles.
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

// Refused returns the namespaces, "" for all, that the operator may no longer read, with the errors. The objects that
// were read before are still in the store.
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
