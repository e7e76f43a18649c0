package preview

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/httpsd"
)

// WithHTTP adds the targets of http_sd_configs to those of another finder.
type WithHTTP struct {
	Finder
	Client *httpsd.Client
}

// askers is the maximum number of concurrent requests.
const askers = 8

// Find implements Finder.
func (f WithHTTP) Find(ctx context.Context, jobs []targets.Job, w *Workload) (found []targets.Found, notes []string, err error) {
	if found, notes, err = f.Finder.Find(ctx, jobs, w); err != nil {
		return nil, nil, err
	}
	answers := f.fetch(ctx, jobs)
	for i := range jobs {
		all := jobs[i].HTTP
		for n := range all {
			one := answers[keyOf(&all[n])]()
			found[i].Groups = slices.Concat(found[i].Groups, one.Groups) // not append: jobs share the groups
			found[i].Gaps = slices.Concat(found[i].Gaps, one.Gaps)
		}
		if len(all) > 0 {
			found[i].Looked = append(found[i].Looked, targets.HTTPSDKey)
		}
	}
	return found, notes, context.Cause(ctx)
}

// fetch requests each distinct URL once.
func (f WithHTTP) fetch(ctx context.Context, jobs []targets.Job) map[string]func() targets.Found {
	out := map[string]func() targets.Found{}
	var g errgroup.Group
	g.SetLimit(askers)
	for i := range jobs {
		for n := range jobs[i].HTTP {
			sd := &jobs[i].HTTP[n]
			if out[keyOf(sd)] == nil {
				answer := sync.OnceValue(func() targets.Found { return f.Client.Find(ctx, sd) })
				out[keyOf(sd)] = answer
				g.Go(func() error { answer(); return nil })
			}
		}
	}
	_ = g.Wait()
	return out
}

func keyOf(sd *targets.HTTPSD) string { return fmt.Sprintf("%+v", *sd) }
