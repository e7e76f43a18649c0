package lister

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

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

const (
	// concurrentReviews is the maximum number of concurrent access reviews of one account. The rate limit of the
	// client serves requests in their order, so accounts take turns.
	concurrentReviews = 10
	// manyNamespaces is the number of namespaces of a kind from which on the first review is about all
	// namespaces. An account that may list those may list each, and reviews of hundreds of namespaces take longer
	// than rate limits allow.
	manyNamespaces = 3
	// maxReviews is the number of access reviews that one workload may cause in a burst and per maxReviewsIn, see
	// [Cluster.Denied].
	maxReviews   = 1500
	maxReviewsIn = time.Minute
	// fresh is the age up to which a review is not repeated.
	fresh = 45 * time.Second
)

// verbs are the verbs that Prometheus needs for a discovery.
var verbs = []string{"list", "watch"}

// permission is a permission that an account needs: a verb in a place.
type permission struct {
	where
	verb string
}

// everywhere returns the same permission in all namespaces.
func (q permission) everywhere() permission { return permission{where{kind: q.kind}, q.verb} }

// decision is the result of an access review.
type decision struct {
	may bool
	at  time.Time
}

// reviews are the reviews about one account.
type reviews map[permission]decision

// of reports whether a permission is granted, in its namespace or in all. known is false if neither was reviewed.
func (v reviews) of(q permission) (may, known bool) {
	if v[q.everywhere()].may {
		return true, true
	}
	out, known := v[q]
	return out.may, known
}

// lacks returns the verbs that the account lacks in a place. known is false if a review is missing.
func (v reviews) lacks(w where) (out []string, known bool) {
	known = true
	for _, verb := range verbs {
		switch may, is := v.of(permission{w, verb}); {
		case !is:
			known = false
		case !may:
			out = append(out, verb)
		}
	}
	return out, known
}

// places has the places that jobs discover, by the namespace of their objects.
type places map[string]map[where]bool

// everywhere returns the kinds that are first reviewed for all namespaces together.
func (p places) everywhere() (out []where) {
	in, seen := map[discovery.Kind]int{}, map[where]bool{}
	for _, of := range p {
		for w := range of {
			if seen[w] {
				continue
			}
			seen[w] = true
			if in[w.kind]++; in[w.kind] == manyNamespaces {
				out = append(out, where{kind: w.kind})
			}
		}
	}
	return out
}

// queue returns the permissions to review, in order: one of each namespace of objects in turn, so
// that the places that one of them names do not delay the reviews of others. Within a namespace, permissions
// that were never reviewed come first, then those with the oldest reviews.
func (p places) queue(now time.Time, known reviews) (out []permission) {
	var all [][]permission
	for _, of := range p {
		var open []permission
		for w := range of {
			for _, verb := range verbs {
				q := permission{w, verb}
				if !known[q.everywhere()].may && now.Sub(known[q].at) >= fresh {
					open = append(open, q)
				}
			}
		}
		slices.SortFunc(open, func(a, b permission) int {
			return cmp.Or(known[a].at.Compare(known[b].at), strings.Compare(a.namespace, b.namespace), strings.Compare(a.resource(), b.resource()), strings.Compare(a.verb, b.verb))
		})
		all = append(all, open)
	}
	seen := map[permission]bool{}
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, open := range all {
			if turn >= len(open) {
				continue
			}
			more = true
			if q := open[turn]; !seen[q] {
				seen[q] = true
				out = append(out, q)
			}
		}
	}
	return out
}

// review reviews the unknown permissions for places, with up to most access reviews. It returns all decisions, including
// the known ones, and the number of access reviews.
//
// Errors: that of the first failed review. The remaining ones are then skipped.
func (c Cluster) review(ctx context.Context, a account, p places, known reviews, most int) (out reviews, n int, cause error) {
	now := time.Now()
	out = reviews{}
	keep := func(w where) {
		for _, verb := range verbs {
			if v, is := known[permission{w, verb}]; is {
				out[permission{w, verb}] = v
			}
		}
	}
	var first []permission
	for _, w := range p.everywhere() {
		keep(w)
		for _, verb := range verbs {
			if q := (permission{w, verb}); now.Sub(known[q].at) >= fresh {
				first = append(first, q)
			}
		}
	}
	for _, of := range p {
		for w := range of {
			keep(w)
		}
	}
	if cause = c.reviewEach(ctx, a, first, out); cause != nil {
		return out, len(first), cause
	}
	rest := p.queue(now, out)
	rest = rest[:min(len(rest), max(0, most-len(first)))]
	return out, len(first) + len(rest), c.reviewEach(ctx, a, rest, out)
}

// denied returns the verbs that an account lacks of those that Prometheus needs to find anything.
// If access reviews fail, the notes contain the reason and nothing else is denied.
func (c Cluster) denied(ctx context.Context, a account, all []where) (lacks map[where][]string, notes []string) {
	p := places{"": {}}
	for _, w := range all {
		p[""][w] = true
	}
	may, _, cause := c.review(ctx, a, p, nil, math.MaxInt)
	lacks = map[where][]string{}
	for _, w := range all {
		if verbs, _ := may.lacks(w); verbs != nil {
			lacks[w] = verbs
		}
	}
	return lacks, c.note(a, cause)
}

// note returns the notes for failed reviews.
func (c Cluster) note(a account, cause error) []string {
	if cause == nil {
		return nil
	}
	return []string{failedReviews(a, cause, cmp.Or(c.Who, "you"))}
}

// reviewEach reviews permissions concurrently and adds the decisions.
//
// Errors: that of the first failed review. The remaining ones are then skipped.
func (c Cluster) reviewEach(ctx context.Context, a account, all []permission, to reviews) (cause error) {
	var (
		mu sync.Mutex
		g  errgroup.Group
	)
	if len(all) == 0 {
		return nil
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g.SetLimit(concurrentReviews)
	for _, q := range all {
		g.Go(func() error {
			if ctx.Err() != nil {
				mu.Lock()
				defer mu.Unlock()
				cause = cmp.Or(cause, ctx.Err())
				return nil
			}
			is, err := c.may(ctx, a, q.verb, q.where)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				cause = cmp.Or(cause, err)
				stop() // the others would fail, too
				return nil
			}
			to[q] = decision{is, time.Now()}
			return nil
		})
	}
	_ = g.Wait()
	return cause
}

// may checks whether an account has a permission.
func (c Cluster) may(ctx context.Context, a account, verb string, w where) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return readers.May(ctx, c.Kube, types.NamespacedName{Namespace: a.namespace, Name: a.name}, verb, w.kind.Resource.GroupResource(), w.namespace)
}
