package followed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Finder finds the targets of jobs once, from groups that are kept current: for previews.
type Finder struct {
	Groups *watch.Cluster
	Denied string // as that of [Source]
	// Applied (optional) are objects that take the place of those in the cluster.
	Applied *discovery.Objects
	// Patience is how long it waits until the cluster was read.
	Patience time.Duration
}

var _ preview.Finder = Finder{}

// Find implements [preview.Finder]. Many jobs look for targets in the same way.
func (f Finder) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.Patience)
	defer cancel()
	wake := make(chan struct{}, 1)
	subs, wrong := map[string]*watch.Subscription{}, map[string]error{}
	discoveries := map[string]*targets.KubernetesSD{}
	for i := range jobs {
		for sd := range discovery.Distinct(&jobs[i]) {
			key := keyOf(sd)
			if subs[key] != nil || wrong[key] != nil {
				continue
			}
			sub, err := f.Groups.Subscribe(sd, w.Namespace, func() {
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
		known[key] = f.found(sub, discoveries[key])
		notes = appendOutdated(notes, sub.Outdated(), f.Denied)
	}
	for i := range jobs {
		var one targets.Found
		for sd := range discovery.Distinct(&jobs[i]) {
			key := keyOf(sd)
			if err := wrong[key]; err != nil {
				one.Gaps = append(one.Gaps, targets.Gap{State: targets.Unknown, Message: err.Error()})
			}
			one.Groups, one.Gaps = slices.Concat(one.Groups, known[key].Groups), slices.Concat(one.Gaps, known[key].Gaps)
		}
		found = append(found, one)
	}
	return found, notes, nil
}

func keyOf(sd *targets.KubernetesSD) string { return fmt.Sprintf("%+v", *sd) }

// wait waits until a subscription is complete. A list that fails wakes nobody.
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

// found are the groups that are known of a discovery, and why there may be more.
func (f Finder) found(sub *watch.Subscription, sd *targets.KubernetesSD) (out targets.Found) {
	take := func(group *targetgroup.Group) { out.Groups = append(out.Groups, group) }
	if f.Applied == nil {
		sub.Each(take)
	} else if err := sub.EachOver(sd, f.Applied, take); err != nil {
		out.Gaps = append(out.Gaps, targets.Gap{State: targets.Unknown, Message: "kubernetes discovery: " + err.Error()})
	}
	slices.SortFunc(out.Groups, func(a, b *targetgroup.Group) int { return strings.Compare(a.Source, b.Source) })
	for _, gap := range sub.Gaps() {
		if gap.Refused && f.Denied != "" {
			gap.Message += "; " + f.Denied
		}
		out.Gaps = append(out.Gaps, gap)
	}
	return out
}
