package lister

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// account is a ServiceAccount.
type account struct{ namespace, name string }

// account returns the ServiceAccount of the workload's pods.
func (w Workload) account() account {
	return account{w.Namespace, cmp.Or(w.ServiceAccount, "default")}
}

// String returns a human-readable form.
func (a account) String() string { return "ServiceAccount " + a.namespace + "/" + a.name }

// questions is the maximum number of concurrent access reviews.
const questions = 10

// denied returns the verbs that an account lacks of those that Prometheus needs to find anything.
// If access reviews fail, the notes contain the reason and nothing is denied.
func (c Cluster) denied(ctx context.Context, a account, places []where) (lacks map[where][]string, notes []string) {
	var (
		mu    sync.Mutex
		cause error
		g     errgroup.Group
	)
	lacks = map[where][]string{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ask := func(verb string, w where) {
		if ctx.Err() != nil {
			return
		}
		may, err := c.may(ctx, a, verb, w)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			cause = cmp.Or(cause, err)
			stop() // the others would fail, too
		case !may:
			lacks[w] = append(lacks[w], verb)
		}
	}
	g.SetLimit(questions)
	for _, w := range places {
		for _, verb := range []string{"list", "watch"} {
			g.Go(func() error {
				ask(verb, w)
				return nil
			})
		}
	}
	_ = g.Wait()
	for _, verbs := range lacks {
		slices.Sort(verbs)
	}
	if cause != nil {
		notes = append(notes, unasked(a, cause, cmp.Or(c.Who, "you")))
	}
	return lacks, notes
}

// may checks whether an account has a permission.
func (c Cluster) may(ctx context.Context, a account, verb string, w where) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return readers.May(ctx, c.Kube, types.NamespacedName{Namespace: a.namespace, Name: a.name}, verb, w.kind.Resource.GroupResource(), w.namespace)
}
