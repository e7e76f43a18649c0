package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// String returns a human-readable form: "3 targets, 9 dropped". Unknown targets are never "no
// targets".
func (c *Counts) String() string {
	var out []string
	switch {
	case c.Kept == 0 && c.Unknown > 0:
		out = append(out, "targets unknown")
	case c.Kept == 0 && c.Forbidden > 0:
		out = append(out, "targets forbidden")
	case c.Kept == 0:
		out = append(out, "no targets")
	case c.gaps() > 0:
		out = append(out, report.Count(c.Kept, "known target"))
	default:
		out = append(out, report.Count(c.Kept, "target"))
	}
	for _, more := range []struct {
		n    int
		what string
	}{
		{c.OtherShard, "on other shards"}, {c.dropped(), "dropped"}, {c.Invalid, "invalid"}, {c.Duplicate, "duplicate"}, {c.OverLimit, "over the limit"},
	} {
		if more.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	return strings.Join(out, ", ")
}

// maxSummed is the maximum number of reasons in a summary.
const maxSummed = 3

// Summary returns a human-readable line: "3 targets; 6 dropped by spec.selector.matchLabels["app"], 2
// by spec.endpoints[0].port".
func (j *Job) Summary() string {
	if len(j.Reasons) == 0 && j.Counts.scraped() == 0 {
		return "no targets: discovery finds nothing"
	}
	var why []string
	for i, r := range j.Reasons {
		if i == maxSummed {
			why = append(why, fmt.Sprintf("%d other reasons", len(j.Reasons)-i))
			break
		}
		switch {
		case r.State == targets.Dropped:
			why = append(why, fmt.Sprintf("%d dropped by %s", r.Count, r.Origin))
		case r.State == targets.Unknown, r.State == targets.Forbidden:
			why = append(why, r.message(states[r.State]))
		case r.State != targets.OtherShard && len(r.Found) == 0:
			why = append(why, fmt.Sprintf("%d %s", r.Count, states[r.State]))
		case r.State != targets.OtherShard:
			why = append(why, fmt.Sprintf("%d %s (%s)", r.Count, states[r.State], r.Found[0].Message))
		}
	}
	kept := Counts{Kept: j.Counts.Kept, OtherShard: j.Counts.OtherShard, Unknown: j.Counts.Unknown, Forbidden: j.Counts.Forbidden}
	if text := strings.Join(why, "; "); kept.scraped() == 0 && kept.gaps() > 0 {
		return kept.String() + ": " + text
	}
	return strings.Join(append([]string{kept.String()}, why...), "; ")
}

// message returns the first finding, or hidden if there are none.
func (r *Reason) message(hidden string) string {
	if len(r.Found) == 0 {
		return hidden
	}
	return r.Found[0].Message
}

// Summaries returns a line for each job with known targets, prefixed with its name if there are
// several jobs.
func (r *Report) Summaries() (out []string) {
	for _, o := range r.Workloads {
		for _, object := range o.Objects {
			for i := range object.Jobs {
				c := &object.Jobs[i].Counts
				if c.scraped()+c.others() == 0 && c.gaps() > 0 {
					continue
				}
				text := object.Jobs[i].Summary()
				if len(object.Jobs) > 1 {
					text = object.Jobs[i].Name + ": " + text
				}
				out = append(out, text)
			}
		}
	}
	return out
}

// states are human-readable names of states.
var states = map[targets.State]string{
	targets.Kept: "kept", targets.OtherShard: "other shard", targets.Dropped: "dropped", targets.Invalid: "invalid", targets.Duplicate: "duplicate",
	targets.OverLimit: "over the limit", targets.Forbidden: "forbidden", targets.Unknown: "unknown",
}

// String returns a human-readable name: the field for jobs of the workload itself.
func (o *Object) String() string {
	if o.Field != "" {
		return o.Field
	}
	return o.Ref.String()
}

// maxShardsTold is the maximum number of shards that are listed individually.
const maxShardsTold = 8

// spread returns the number of targets of each shard as text; empty with one shard.
func spread(perShard []int) string {
	if len(perShard) > maxShardsTold {
		return fmt.Sprintf("%d to %d on each of %d shards", slices.Min(perShard), slices.Max(perShard), len(perShard))
	}
	var out []string
	for shard, n := range perShard {
		out = append(out, fmt.Sprintf("shard %d: %d", shard, n))
	}
	return strings.Join(out, ", ")
}

// scrapers returns the shards or nodes that scrape a target; empty if there is only one
// possibility.
func scrapers(o *WorkloadResult, t *Target) string {
	switch {
	case t.State != targets.Kept && t.State != targets.OtherShard:
		return ""
	case o.PerNode && t.Source.Node != "":
		return "node " + t.Source.Node
	case o.PerNode:
		return "every node"
	case o.Shards < 2:
		return ""
	case len(t.Shards) == o.Shards:
		return "all shards"
	}
	text := strings.Trim(fmt.Sprint(t.Shards), "[]")
	if len(t.Shards) == 1 {
		return "shard " + text
	}
	return "shards " + strings.ReplaceAll(text, " ", ",")
}

// place returns the location of a target: "pod web-0".
func place(t *Target) string {
	switch {
	case t.Source.Pod != "":
		return "pod " + t.Source.Pod
	case t.Source.Kind == "Pod":
		return "pod " + t.Source.Name
	}
	if t.Discovered == nil {
		return ""
	}
	return sourceOf(t.Source, func(name model.LabelName) string { return t.Discovered[string(name)] })
}

// labelText returns labels in PromQL notation.
func labelText(m map[string]string) string { return labels.FromMap(m).String() }
