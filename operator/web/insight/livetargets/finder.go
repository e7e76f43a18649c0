package livetargets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
)

// Finder finds the targets of jobs once, from live target groups. It is used for previews.
type Finder struct {
	Groups *watch.Cluster
	Denied string // see [Source]
	// Applied (optional) are objects that replace those in the cluster.
	Applied *discovery.Objects
	// Patience is the maximum time to wait until the cluster has been read.
	Patience time.Duration
}

var _ preview.Finder = Finder{}

// Find implements [preview.Finder]. Jobs with the same discovery share one subscription and its
// result.
//
// Errors: *[preview.LimitError]; that of ctx.
func (f Finder) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, f.Patience)
	defer cancel()
	wake := make(chan struct{}, 1)
	subs, wrong := map[string]*watch.Subscription{}, map[string]error{}
	discoveries := map[string]*targets.KubernetesSD{}
	views := map[string]bool{}
	for i := range jobs {
		for sd := range discovery.Distinct(&jobs[i]) {
			key := keyOf(sd)
			if subs[key] != nil || wrong[key] != nil {
				continue
			}
			if views[viewOf(sd)] = true; len(views) > maxViews {
				return nil, nil, &preview.LimitError{What: fmt.Sprintf("the jobs look for targets in more than %d ways (roles, selectors, metadata)", maxViews)}
			}
			sub, err := f.Groups.SubscribeOnce(sd, w.Namespace, func() {
				select {
				case wake <- struct{}{}:
				default:
				}
			})
			if wrong[key] = err; err == nil {
				subs[key], discoveries[key] = sub, sd
				defer sub.Close()
			}
		}
	}
	known := map[string]targets.Found{}
	for key, sub := range subs {
		wait(ctx, sub, wake)
		known[key] = f.found(parent, sub, discoveries[key])
		notes = appendOutdated(notes, sub.Outdated(), f.Denied)
		if err := parent.Err(); err != nil {
			return nil, nil, err
		}
	}
	for key, err := range wrong {
		if err != nil {
			known[key] = targets.Found{Gaps: []targets.Gap{{State: targets.Unknown, Message: err.Error()}}}
		}
	}
	joined := map[string]targets.Found{} // of jobs with several discoveries
	for i := range jobs {
		found = append(found, join(&jobs[i], known, joined))
	}
	return found, notes, nil
}

// join returns the combined result of the discoveries of a job. Jobs with the same discoveries
// share it.
func join(j *targets.Job, known, joined map[string]targets.Found) targets.Found {
	var keys []string
	for sd := range discovery.Distinct(j) {
		keys = append(keys, keyOf(sd))
	}
	if len(keys) == 1 {
		return known[keys[0]]
	}
	all := strings.Join(keys, "\n")
	one, is := joined[all]
	if !is {
		for _, key := range keys {
			one.Groups, one.Gaps = slices.Concat(one.Groups, known[key].Groups), slices.Concat(one.Gaps, known[key].Gaps)
		}
		joined[all] = one
	}
	return one
}

// maxViews limits the copies of target groups per request.
const maxViews = 50

// viewOf returns the key of a discovery regardless of its namespaces.
func viewOf(sd *targets.KubernetesSD) string {
	everywhere := *sd
	everywhere.Namespaces = targets.Namespaces{}
	return keyOf(&everywhere)
}

func keyOf(sd *targets.KubernetesSD) string { return fmt.Sprintf("%+v", *sd) }

// wait waits until a subscription is complete. It polls because a failing list does not signal
// wake.
func wait(ctx context.Context, sub *watch.Subscription, wake <-chan struct{}) {
	failing := time.NewTicker(100 * time.Millisecond)
	defer failing.Stop()
	for sub.Filling() && ctx.Err() == nil {
		select {
		case <-wake:
		case <-failing.C:
		case <-ctx.Done():
		}
	}
}

// found returns the target groups of a discovery and its gaps. The slices are clipped because jobs
// share them.
func (f Finder) found(ctx context.Context, sub *watch.Subscription, sd *targets.KubernetesSD) (out targets.Found) {
	take := func(group *targetgroup.Group) {
		if ctx.Err() == nil { // else the caller has given up
			out.Groups = append(out.Groups, group)
		}
	}
	if f.Applied == nil {
		sub.Each(take)
	} else if err := sub.EachOver(sd, f.Applied, take); err != nil {
		out.Gaps = append(out.Gaps, targets.Gap{State: targets.Unknown, Message: "kubernetes discovery: " + err.Error()})
	}
	slices.SortFunc(out.Groups, func(a, b *targetgroup.Group) int { return strings.Compare(a.Source, b.Source) })
	for _, gap := range sub.Gaps() {
		gap.Message = textOf(gap, f.Denied)
		out.Gaps = append(out.Gaps, gap)
	}
	out.Groups, out.Gaps = slices.Clip(out.Groups), slices.Clip(out.Gaps)
	return out
}
