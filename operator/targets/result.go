package targets

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

// Result has the evaluated targets of a job. There may be very many of which few are shown, so rows
// are compact and [Result.Target] computes the details on demand.
type Result struct {
	// Rows of targets in discovery order.
	Rows []Row

	job *Job
}

// Row is the compact result for a target, see [Target].
type Row struct {
	State State
	// Shards that scrape it.
	Shards []int
	// Drop is the step that dropped it; nil unless it is dropped. Rows with equal contents share
	// it.
	Drop *Drop
	// Message is a human-readable reason for the state; empty when the target is kept.
	Message string

	own, shared model.LabelSet // discovered labels, the former take precedence; nil for gaps
	on          int            // the shard to which State and Message refer
	winner      int            // of a duplicate: the row that is scraped instead
}

// Label returns a discovered label; empty if it is not set.
func (r *Row) Label(name model.LabelName) string {
	if value, ok := r.own[name]; ok {
		return string(value)
	}
	return string(r.shared[name])
}

// Source returns the object in which the target was found.
func (r *Row) Source() Source { return sourceOf(r.Label) }

// isGap reports whether the row represents an unknown number of targets.
func (r *Row) isGap() bool { return r.own == nil && (r.State == Forbidden || r.State == Unknown) }

// Targets returns all targets with their details.
func (r Result) Targets() []Target {
	out := make([]Target, len(r.Rows))
	for i := range r.Rows {
		out[i] = r.Target(i)
	}
	return out
}

// Target returns the details of a row.
func (r Result) Target(i int) Target {
	row := &r.Rows[i]
	t := Target{Job: r.job.Name, State: row.State, Shards: append([]int{}, row.Shards...), Drop: row.Drop, Message: row.Message}
	if row.isGap() {
		return t
	}
	discovered := r.discovered(row)
	t.ID, t.Source, t.Discovered = idOf(r.job.Name, discovered), row.Source(), discovered.Map()
	if !r.job.mayFollow(row) {
		return t
	}
	c, lb := r.job.shards[row.on], labels.NewBuilder(labels.EmptyLabels())
	if row.Drop != nil {
		populate(lb, c, row.own, row.shared)
		relabel.ProcessBuilder(lb, c.RelabelConfigs[:row.Drop.Step-1]...)
		t.URL = urlOf(lb.Labels(), c)
		return t
	}
	result, err := relabeled(lb, c, row.own, row.shared)
	if err != nil || result.IsEmpty() || row.State == Invalid {
		t.URL = urlOf(lb.Labels(), c)
		return t
	}
	t.URL, t.Labels = urlOf(result, c), public(result)
	if row.State == Duplicate && row.winner >= 0 {
		t.Winner = idOf(r.job.Name, r.discovered(&r.Rows[row.winner]))
	}
	return t
}

// discovered returns all discovered labels of a row, including the defaults of the job.
func (r Result) discovered(row *Row) labels.Labels {
	lb := labels.NewBuilder(labels.EmptyLabels())
	populate(lb, r.job.shards[0], row.own, row.shared)
	return lb.Labels()
}

// OnShard returns the result for one shard: targets that only other shards scrape are in state
// otherShard.
func (r Result) OnShard(shard int) Result {
	r.Rows = slices.Clone(r.Rows)
	for i := range r.Rows {
		if row := &r.Rows[i]; row.State == Kept && !slices.Contains(row.Shards, shard) {
			row.State = OtherShard
		}
	}
	return r
}

// Counts returns the number of targets by state.
func (r Result) Counts() map[State]int {
	out := map[State]int{}
	for i := range r.Rows {
		out[r.Rows[i].State]++
	}
	return out
}

// DroppedBy returns the number of dropped targets by the origin of the step.
func (r Result) DroppedBy() map[string]int {
	out := map[string]int{}
	for i := range r.Rows {
		if d := r.Rows[i].Drop; d != nil {
			out[d.Origin]++
		}
	}
	return out
}

// public returns the labels without the reserved ones, as they appear on series.
func public(l labels.Labels) map[string]string {
	out := map[string]string{}
	l.Range(func(l labels.Label) {
		if !strings.HasPrefix(l.Name, model.ReservedLabelPrefix) {
			out[l.Name] = l.Value
		}
	})
	return out
}

// idOf returns a hash of the job's name and the discovered labels.
func idOf(job string, discovered labels.Labels) string {
	h := fnv.New64a()
	write := func(text string) { _, _ = h.Write(append([]byte(text), 0)) }
	write(job)
	discovered.Range(func(l labels.Label) {
		write(l.Name)
		write(l.Value)
	})
	return fmt.Sprintf("%016x", h.Sum64())
}
