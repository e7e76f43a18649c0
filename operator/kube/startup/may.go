package startup

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
)

// answerHolds is the validity of the result of an access review. It is cached because
// stores that start at the same time need the same permissions.
const answerHolds = time.Minute

// reviewer checks permissions and caches the results.
type reviewer struct {
	kube kubernetes.Interface

	mu      sync.Mutex
	answers map[Permission]answer
}

type answer struct {
	granted bool
	until   time.Time
}

// May reports whether the operator may use a verb on a core resource in a namespace, or
// in the whole cluster if namespace is empty.
func (s *Starter) May(ctx context.Context, resource, verb, namespace string) (bool, error) {
	p := Permission{Resource: resource, Verb: verb, Namespace: namespace}
	if namespace != "" { // checks for a ClusterRole once instead of each of many namespaces
		if granted, err := s.reviews.review(ctx, p.everywhere()); granted || err != nil {
			return granted, err
		}
	}
	return s.reviews.review(ctx, p)
}

func (a *reviewer) review(ctx context.Context, p Permission) (bool, error) {
	a.mu.Lock()
	last, known := a.answers[p]
	a.mu.Unlock()
	if known && time.Now().Before(last.until) {
		return last.granted, nil
	}
	granted, err := may(ctx, a.kube, p)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers == nil {
		a.answers = map[Permission]answer{}
	}
	a.answers[p] = answer{granted, time.Now().Add(answerHolds)}
	return granted, nil
}
