package lister

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
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

// manyNamespaces is the number of namespaces of a kind from which on the first question is about all namespaces.
// An account that may list those may list each, and reviews of hundreds of namespaces take longer than
// rate limits allow.
const manyNamespaces = 3

// verbs are what Prometheus needs to find anything.
var verbs = []string{"list", "watch"}

// question is a permission of an account.
type question struct {
	where
	verb string
}

// denied returns the verbs that an account lacks of those that Prometheus needs to find anything.
// If access reviews fail, the notes contain the reason and nothing is denied.
func (c Cluster) denied(ctx context.Context, a account, places []where) (lacks map[where][]string, notes []string) {
	first := map[where]bool{} // kinds in all namespaces
	in := map[discovery.Kind]int{}
	for _, w := range places {
		if in[w.kind]++; in[w.kind] == manyNamespaces {
			first[where{kind: w.kind}] = true
		}
	}
	may, cause := c.mayAll(ctx, a, slices.Collect(maps.Keys(first)), nil)
	if cause == nil {
		var more map[question]bool
		more, cause = c.mayAll(ctx, a, places, may)
		maps.Copy(may, more)
	}
	lacks = map[where][]string{}
	for _, w := range places {
		for _, verb := range verbs {
			if is, asked := may[question{w, verb}]; asked && !is {
				lacks[w] = append(lacks[w], verb)
			}
		}
	}
	if cause != nil {
		notes = append(notes, unasked(a, cause, cmp.Or(c.Who, "you")))
	}
	return lacks, notes
}

// mayAll asks for all verbs in places, except for those that the account has in all namespaces or that were
// asked before.
//
// Errors: that of the first failed review. The others are not asked then.
func (c Cluster) mayAll(ctx context.Context, a account, places []where, known map[question]bool) (may map[question]bool, cause error) {
	var (
		mu sync.Mutex
		g  errgroup.Group
	)
	may = map[question]bool{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g.SetLimit(questions)
	for _, w := range places {
		for _, verb := range verbs {
			q := question{w, verb}
			if _, asked := known[q]; asked || known[question{where{kind: w.kind}, verb}] {
				continue
			}
			g.Go(func() error {
				if ctx.Err() != nil {
					return nil
				}
				is, err := c.may(ctx, a, verb, w)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					cause = cmp.Or(cause, err)
					stop() // the others would fail, too
					return nil
				}
				may[q] = is
				return nil
			})
		}
	}
	_ = g.Wait()
	return may, cause
}

// may checks whether an account has a permission.
func (c Cluster) may(ctx context.Context, a account, verb string, w where) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return readers.May(ctx, c.Kube, types.NamespacedName{Namespace: a.namespace, Name: a.name}, verb, w.kind.Resource.GroupResource(), w.namespace)
}
