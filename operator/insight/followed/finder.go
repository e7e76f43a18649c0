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
	// Patience is how long it waits until the cluster was read.
	Patience time.Duration
}

var _ preview.Finder = Finder{}

// Find implements [preview.Finder]. Many jobs look for targets in the same way.
func (f Finder) Find(ctx context.Context, jobs []targets.Job, w *preview.Workload) (found []targets.Found, notes []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.Patience)
	defer cancel()
	known := map[string]targets.Found{}
	for i := range jobs {
		var one targets.Found
		for sd := range discovery.Distinct(&jobs[i]) {
			key := fmt.Sprintf("%+v", *sd)
			each, is := known[key]
			if !is {
				each = f.groups(ctx, sd, w.Namespace)
				known[key] = each
			}
			one.Groups, one.Gaps = slices.Concat(one.Groups, each.Groups), slices.Concat(one.Gaps, each.Gaps)
		}
		found = append(found, one)
	}
	return found, nil, nil
}

// groups are those of one discovery, as soon as they are complete.
func (f Finder) groups(ctx context.Context, sd *targets.KubernetesSD, own string) (out targets.Found) {
	wake := make(chan struct{}, 1)
	sub, err := f.Groups.Subscribe(sd, own, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return targets.Found{Gaps: []targets.Gap{{State: targets.Unknown, Message: err.Error()}}}
	}
	defer sub.Close()
	failing := time.NewTicker(100 * time.Millisecond) // a list that fails wakes nobody
	defer failing.Stop()
	for sub.Filling() && ctx.Err() == nil {
		select {
		case <-wake:
		case <-failing.C:
		case <-ctx.Done():
		}
	}
	sub.Each(func(group *targetgroup.Group) { out.Groups = append(out.Groups, group) })
	slices.SortFunc(out.Groups, func(a, b *targetgroup.Group) int { return strings.Compare(a.Source, b.Source) })
	for _, gap := range sub.Gaps() {
		if gap.Refused && f.Denied != "" {
			gap.Message += "; " + f.Denied
		}
		out.Gaps = append(out.Gaps, gap)
	}
	return out
}
