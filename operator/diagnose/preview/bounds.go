package preview

import (
	"context"
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/config/jobtext"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// LimitError is the error of a preview that would take too long for an interactive request.
type LimitError struct{ What string }

// Error includes the alternative without a limit.
func (e *LimitError) Error() string {
	return e.What + ": send fewer objects at a time, or use operator targets -f, which has no such limit"
}

// Bounds limit the work of compiling a preview, summed over all its workloads.
type Bounds struct {
	Jobs int
	// Regexps is the maximum compiled size of the regular expressions of the jobs for all shards,
	// in the unit of [regexcost.Of].
	Regexps int
	// Text is the maximum size of the jobs in bytes.
	Text int

	jobs, regexps, text int
}

// Read is [Read] within the bounds.
//
// Errors: *[LimitError]; the error of ctx.
func (b *Bounds) Read(ctx context.Context, c explain.Candidate, cluster engine.Cluster, opts prometheus.Options) (Workload, error) {
	if err := ctx.Err(); err != nil {
		return Workload{}, err
	}
	scrapes, err := prometheus.ScrapesOf(c.Object, cluster, opts)
	var over error
	w := read(c, scrapes, err, reading{hints: true, jobs: func(s prometheus.ScrapeSource) ([]targets.Job, error) {
		if err := tooLong(&s.Document); err != nil {
			return nil, err
		}
		if over == nil {
			over = errors.Join(ctx.Err(), b.add(&s.Document))
		}
		if over != nil {
			return nil, over
		}
		return jobsOf(s)
	}})
	return w, over
}

// add counts the jobs of a document before they are compiled.
func (b *Bounds) add(d *promconfig.JobText) error {
	if b.jobs += len(d.Origins); b.jobs > b.Jobs {
		return &LimitError{fmt.Sprintf("there are more than %d jobs to look at", b.Jobs)}
	}
	if b.text += len(d.Text); b.text > b.Text {
		return &LimitError{fmt.Sprintf("all jobs have more than %d KiB", b.Text>>10)}
	}
	if b.regexps += costOf(d); b.regexps > b.Regexps {
		return &LimitError{"the regular expressions of all jobs compile to too much"}
	}
	return nil
}

// costOf returns an upper bound of the compiled size of the regular expressions of jobs, for all
// shards. It returns 0 for a text that cannot be parsed, which is reported when the jobs are read.
func costOf(d *promconfig.JobText) (cost int) {
	jobs, err := jobtext.Read(d.Text)
	if err != nil {
		return 0
	}
	for _, j := range jobs {
		for _, s := range j.Steps {
			cost += regexcost.OfText(s.Regex)
		}
	}
	return cost * max(1, len(d.Shards))
}
