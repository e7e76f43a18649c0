package preview

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Report is the result of a preview.
type Report struct {
	Workloads []WorkloadResult `json:"workloads"`
	// Items lists the targets in the order of workloads and jobs, up to a limit.
	Items []Target `json:"items"`
	// Omitted is the number of targets above the limit. Absent if all are listed.
	Omitted int `json:"omitted,omitempty"`
	// Counts is the number of all requested targets, by state.
	Counts Counts `json:"counts"`
	// WithoutTargets lists the jobs without known targets, and rejected objects.
	WithoutTargets []Without `json:"withoutTargets,omitempty"`
	// Overlaps lists the URLs that a workload scrapes more than once. Only if requested.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Comparisons lists the comparisons with the targets of pods. Only if requested.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Resharding is the effect of another number of shards. Only if requested.
	Resharding *Resharding `json:"resharding,omitempty"`
	// Unselected lists the objects that no workload selects. Absent if the request is about a single workload or
	// object.
	Unselected []explain.Unselected `json:"unselected,omitempty"`
	// NotUsed lists the workloads that do not use the requested object, with the reasons.
	NotUsed []explain.Result `json:"notUsed,omitempty"`

	question Query
	object   *explain.Report
}

// NameUnselected adds the objects that no workload selects.
func (r *Report) NameUnselected(objects *manifests.Objects) {
	r.Unselected = slices.DeleteFunc(explain.UnselectedOf(objects), func(u explain.Unselected) bool {
		return !r.question.in(u.Ref) || !slices.Contains(Sources, catalog.Of(u.Kind))
	})
}

// WorkloadResult is the result for one workload.
type WorkloadResult struct {
	catalog.Ref
	Shards  int    `json:"shards,omitempty"`
	PerNode bool   `json:"perNode,omitempty"` // true if each pod scrapes the targets on its node
	Counts  Counts `json:"counts"`            // number of targets by state
	// PerShard is the number of scraped targets of each shard, starting with shard 0. Absent if there is only one.
	PerShard []int    `json:"perShard,omitempty"`
	Error    string   `json:"error,omitempty"` // reason why its jobs are unknown
	Notes    []string `json:"notes,omitempty"`
	// Hints lists probable mistakes in the requested object, in addition to those of its jobs.
	Hints   []explain.Hint `json:"hints,omitempty"`
	Objects []Object       `json:"objects"`
}

// ObjectState is the state of an object.
type ObjectState string

const (
	Accepted ObjectState = "accepted"
	Rejected ObjectState = "rejected"
	Unknown  ObjectState = "unknown" // an object that it refers to could not be read
)

// Object is an object from which jobs are generated. Jobs of the workload itself belong to one of its fields.
type Object struct {
	catalog.Ref
	Field  string      `json:"field,omitempty"` // field of the workload; absent for other objects
	State  ObjectState `json:"state"`
	Error  string      `json:"error,omitempty"` // reason why the object is rejected or unknown
	Counts Counts      `json:"counts"`          // number of targets by state
	Jobs   []Job       `json:"jobs,omitempty"`
}

// Job is the result for one scrape job.
type Job struct {
	Name   string `json:"job"`
	Counts Counts `json:"counts"` // number of targets by state
	// PerShard is the number of scraped targets of each shard, starting with shard 0. Absent if there is only one.
	PerShard []int `json:"perShard,omitempty"`
	// Reasons lists the reasons why targets are not scraped, the most frequent first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Hints lists probable mistakes in the object. Only for a job without targets.
	Hints []explain.Hint `json:"hints,omitempty"`

	listed []Target
}

// Target is a target of a job, with the workload and the object from which the job is generated.
type Target struct {
	Workload catalog.Ref `json:"workload"`
	Object   catalog.Ref `json:"object"`
	targets.Target
}

// Without is a job without targets, or an object without jobs.
type Without struct {
	Workload catalog.Ref `json:"workload,omitzero"` // absent for an object that no workload uses
	Object   catalog.Ref `json:"object"`
	Job      string      `json:"job,omitempty"` // absent for an object without jobs
	Message  string      `json:"message"`
}

// Counts is the number of targets by state.
type Counts struct {
	Kept       int            `json:"kept"`                 // scraped
	OtherShard int            `json:"otherShard,omitempty"` // scraped by other shards than the requested one
	Dropped    map[string]int `json:"dropped,omitempty"`    // dropped by a relabel step, by the origin of the step
	Invalid    int            `json:"invalid,omitempty"`    // Prometheus cannot scrape them
	Duplicate  int            `json:"duplicate,omitempty"`  // same labels and URL as another target of the job
	OverLimit  int            `json:"overLimit,omitempty"`  // the job exceeds its target limit, so that none is scraped
	Forbidden  int            `json:"forbidden,omitempty"`  // discoveries that the workload has no permission for
	Unknown    int            `json:"unknown,omitempty"`    // discoveries or targets that cannot be evaluated
}

// of returns the counter of a state other than dropped; nil for dropped.
func (c *Counts) of(s targets.State) *int {
	switch s {
	case targets.Kept:
		return &c.Kept
	case targets.OtherShard:
		return &c.OtherShard
	case targets.Invalid:
		return &c.Invalid
	case targets.Duplicate:
		return &c.Duplicate
	case targets.OverLimit:
		return &c.OverLimit
	case targets.Forbidden:
		return &c.Forbidden
	case targets.Unknown:
		return &c.Unknown
	}
	return nil
}

// AddRow counts a target.
func (c *Counts) AddRow(t *targets.Row) {
	if t.Drop == nil {
		*c.of(t.State)++
		return
	}
	c.drop(t.Drop.Origin, 1)
}

func (c *Counts) drop(origin string, n int) {
	if c.Dropped == nil {
		c.Dropped = map[string]int{}
	}
	c.Dropped[origin] += n
}

// Add adds the numbers of others.
func (c *Counts) Add(other *Counts) {
	for _, s := range targets.States {
		if n := c.of(s); n != nil {
			*n += *other.of(s)
		}
	}
	for origin, n := range other.Dropped {
		c.drop(origin, n)
	}
}

// dropped returns the number of dropped targets.
func (c *Counts) dropped() (n int) {
	for _, of := range c.Dropped {
		n += of
	}
	return n
}

// others returns the number of discovered targets that no shard scrapes.
func (c *Counts) others() int { return c.dropped() + c.Invalid + c.Duplicate + c.OverLimit }

// gaps returns the number of forbidden and unknown discoveries.
func (c *Counts) gaps() int { return c.Forbidden + c.Unknown }

// scraped returns the number of targets that some shard scrapes.
func (c *Counts) scraped() int { return c.Kept + c.OtherShard }

// Conditions are the conditions under which a report can fail.
var Conditions = []string{noTargets, "dropped", "overlap", "difference"}

const noTargets = "no-targets"

// Fails reports whether one of the conditions holds.
func (r *Report) Fails(conditions []string) bool {
	return slices.ContainsFunc(conditions, func(c string) bool {
		switch c {
		case noTargets:
			return len(r.WithoutTargets) > 0 || r.Counts.scraped() == 0 && !r.unread(false)
		case "dropped":
			for origin := range r.Counts.Dropped {
				if strings.HasPrefix(origin, r.question.Origin) {
					return true
				}
			}
			return false
		case "difference":
			return slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return len(c.Differences) > 0 })
		}
		return len(r.Overlaps) > 0
	})
}

// Undecided reports whether a gap might change whether one of the conditions holds; without
// conditions, whether there is any gap.
func (r *Report) Undecided(conditions []string) bool {
	if r.question.Pod.Name != "" && r.Counts.scraped() > 0 {
		return false // other targets of the pod do not change the result
	}
	if slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return c.unknown() }) {
		return true
	}
	return r.unread(slices.Equal(conditions, []string{noTargets}))
}

// unread reports whether more targets may exist. With others, gaps of jobs that have targets are
// ignored.
func (r *Report) unread(others bool) bool {
	job := func(j Job) bool { return j.Counts.gaps() > 0 && (!others || j.Counts.scraped() == 0) }
	object := func(o Object) bool { return o.State == Unknown || slices.ContainsFunc(o.Jobs, job) }
	owner := func(o WorkloadResult) bool { return o.Error != "" || slices.ContainsFunc(o.Objects, object) }
	result := func(v explain.Result) bool { return v.Reason == explain.NotKnown }
	return slices.ContainsFunc(r.Workloads, owner) || slices.ContainsFunc(r.NotUsed, result)
}
