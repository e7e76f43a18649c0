package preview

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Report is the answer.
type Report struct {
	Owners []Owner `json:"workloads"`
	// Items are targets, in the order of owners and jobs, up to the limit of the query.
	Items []Target `json:"items"`
	// Omitted is how many more there are.
	Omitted int `json:"omitted,omitempty"`
	// Counts are of all targets that are asked about.
	Counts Counts `json:"counts"`
	// WithoutTargets are the jobs that scrape nothing as far as is known, and rejected
	// objects.
	WithoutTargets []Without `json:"withoutTargets,omitempty"`
	// Overlaps are URLs that a workload scrapes more than once, if they are asked for.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Comparisons with the pods of workloads, if they are asked for.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Unselected are the objects that no workload selects, if everything is asked about.
	Unselected []explain.Unselected `json:"unselected,omitempty"`
	// NotUsed is why workloads do not use the object that is asked about.
	NotUsed []explain.Verdict `json:"notUsed,omitempty"`

	question Query
	object   *explain.Report
}

// NameUnselected adds the objects that no workload selects.
func (r *Report) NameUnselected(objects *manifests.Objects) {
	r.Unselected = slices.DeleteFunc(explain.UnselectedOf(objects), func(u explain.Unselected) bool {
		return !r.question.in(u.Ref) || !slices.Contains(Sources, catalog.Of(u.Kind))
	})
}

// Owner is what is known of one workload.
type Owner struct {
	catalog.Ref
	Shards  int    `json:"shards,omitempty"`
	PerNode bool   `json:"perNode,omitempty"` // each pod scrapes what is on its node
	Counts  Counts `json:"counts"`
	// PerShard are the numbers of targets that each shard scrapes; nil when there is one.
	PerShard []int    `json:"perShard,omitempty"`
	Error    string   `json:"error,omitempty"` // why its jobs are not known
	Notes    []string `json:"notes,omitempty"`
	// Hints are what explain has found about the object that is asked about, beside those of its jobs.
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

// Object is an object with jobs. The workload's own jobs are those of one of its fields.
type Object struct {
	catalog.Ref
	Field  string      `json:"field,omitempty"`
	State  ObjectState `json:"state"`
	Error  string      `json:"error,omitempty"` // why it is rejected or unknown
	Counts Counts      `json:"counts"`
	Jobs   []Job       `json:"jobs,omitempty"`
}

// Job is what a job scrapes.
type Job struct {
	Name     string `json:"job"`
	Counts   Counts `json:"counts"`
	PerShard []int  `json:"perShard,omitempty"`
	// Reasons for which targets are not scraped, the most frequent first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Hints are what the author of the object probably meant; of a job without targets.
	Hints []nearmiss.Hint `json:"hints,omitempty"`

	listed []Target
}

// Target is a target of a job of an object that a workload uses.
type Target struct {
	Owner  catalog.Ref `json:"workload"`
	Object catalog.Ref `json:"object"`
	targets.Target
}

// Without is a job that scrapes nothing, or an object without jobs.
type Without struct {
	Owner   catalog.Ref `json:"workload,omitzero"` // empty for an object that no workload uses
	Object  catalog.Ref `json:"object"`
	Job     string      `json:"job,omitempty"` // empty for an object without jobs
	Message string      `json:"message"`
}

// Counts are numbers of targets by state; dropped ones by the origin of the step.
type Counts struct {
	Kept       int            `json:"kept"`
	OtherShard int            `json:"otherShard,omitempty"`
	Dropped    map[string]int `json:"dropped,omitempty"`
	Invalid    int            `json:"invalid,omitempty"`
	Duplicate  int            `json:"duplicate,omitempty"`
	OverLimit  int            `json:"overLimit,omitempty"`
	Forbidden  int            `json:"forbidden,omitempty"`
	Unknown    int            `json:"unknown,omitempty"`
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
	owner := func(o Owner) bool { return o.Error != "" || slices.ContainsFunc(o.Objects, object) }
	verdict := func(v explain.Verdict) bool { return v.Reason == explain.NotKnown }
	return slices.ContainsFunc(r.Owners, owner) || slices.ContainsFunc(r.NotUsed, verdict)
}
