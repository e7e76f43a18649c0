package live

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

// account is that of the workload's pods.
func (w Workload) account() account {
	return account{w.Namespace, cmp.Or(w.ServiceAccount, "default")}
}

// String is for people.
func (a account) String() string { return "ServiceAccount " + a.namespace + "/" + a.name }

// questions is the number of questions about permissions at the same time.
const questions = 10

// denied are the verbs that an account lacks of those that Prometheus needs to find
// anything. When nobody says so, notes tell why, and nothing is denied.
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
			stop() // the others fail alike
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

// may asks whether an account may do something.
func (c Cluster) may(ctx context.Context, a account, verb string, w where) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return readers.May(ctx, c.Kube, types.NamespacedName{Namespace: a.namespace, Name: a.name}, verb, w.kind.Resource.GroupResource(), w.namespace)
}
