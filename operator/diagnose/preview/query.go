package preview

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Finder discovers the targets of jobs, in a cluster or among manifests.
type Finder interface {
	// Find returns an entry for each job, and notes about gaps that concern all jobs. Forbidden
	// resources are gaps of the job.
	//
	// Errors: nothing could be discovered.
	Find(ctx context.Context, jobs []targets.Job, w *Workload) (found []targets.Found, notes []string, err error)
}

// AllShards is the Shard of a query for all shards.
const AllShards = -1

// Query selects the contents of a report. The zero value with AllShards selects everything.
type Query struct {
	// Workload limits the report to a workload, Object to the jobs of an object, Job to a job.
	Workload, Object catalog.Ref
	Job              string
	// Namespace limits the report to objects of a namespace; empty for all.
	Namespace string
	// Pod limits the report to targets of a pod, IP also includes targets with its address.
	Pod types.NamespacedName
	IP  string
	// Shard limits the report to a shard, unless it is AllShards.
	Shard int
	// Shards requests the effect of this number of shards on Workload, unless it is 0.
	Shards int
	// States are the states of targets to list; nil for all. They do not affect counts.
	States []targets.State
	// Origin limits the listed dropped targets to those of steps whose origin has this prefix.
	Origin string
	// Limit is the maximum number of listed targets; 0 for no limit.
	Limit int
	// Overlaps includes targets that are scraped more than once. OverlapsOnly limits the
	// human-readable report to them.
	Overlaps, OverlapsOnly bool
	// Look (optional) is used for hints about jobs without targets.
	Look nearmiss.Look
	// Servers (optional) returns the targets of running servers for a comparison.
	Servers Querier
}

// asksFor reports whether a job matches the query.
func (q *Query) asksFor(object catalog.Ref, job string) bool {
	return (q.Object == catalog.Ref{} || q.Object == object) && (q.Job == "" || q.Job == job) && q.in(object)
}

// in reports whether an object is in the namespace of the query.
func (q *Query) in(object catalog.Ref) bool {
	return q.Namespace == "" || q.Namespace == object.Namespace
}

// lists reports whether a target is to be listed.
func (q *Query) lists(t *targets.Row) bool {
	return (q.States == nil || slices.Contains(q.States, t.State)) && (t.Drop == nil || strings.HasPrefix(t.Drop.Origin, q.Origin))
}

// Brief reports whether the report only counts dropped targets, so that most of their labels are not needed.
func (q *Query) Brief() bool {
	return q.Pod.Name == "" && q.States != nil && !slices.Contains(q.States, targets.Dropped)
}

// about reports whether a target belongs to the pod of the query, if there is one.
func (q *Query) about(t *targets.Row) bool {
	if q.Pod.Name == "" || t.State == targets.Unknown || t.State == targets.Forbidden {
		return true
	}
	if source := t.Source(); source.Kind != "" {
		pod := source.Pod
		if source.Kind == "Pod" {
			pod = source.Name
		}
		return pod == q.Pod.Name && source.Namespace == q.Pod.Namespace
	}
	address := t.Label("__address__")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return t.State == targets.Kept && q.IP != "" && host == q.IP
}

// check returns an error if the query selects something that does not exist. Messages begin with
// the flag of the command.
func (q *Query) check(all []Workload) error {
	most := 0
	var jobs, origins []string
	for i := range all {
		w := &all[i]
		if (q.Workload != catalog.Ref{}) && q.Workload != w.Ref {
			continue
		}
		most = max(most, w.Shards)
		for _, p := range w.parts {
			for j := range p.jobs {
				jobs = append(jobs, p.jobs[j].Name)
				if q.asksFor(p.object.Ref, p.jobs[j].Name) {
					origins = p.origins(j, origins)
				}
			}
		}
	}
	slices.SortFunc(origins, func(a, b string) int { // fields first, then steps of the operator
		return cmp.Or(boolInt(strings.HasPrefix(a, "operator: "))-boolInt(strings.HasPrefix(b, "operator: ")), cmp.Compare(a, b))
	})
	origins = slices.Compact(origins)
	begins := func(origin string) bool { return strings.HasPrefix(origin, q.Origin) }
	switch {
	case most > 0 && q.Shard >= most:
		return fmt.Errorf("--shard=%d: no such shard; the last one is %d", q.Shard, most-1)
	case q.Job != "" && !slices.Contains(jobs, q.Job):
		return fmt.Errorf("--job=%s: no such job; there are %s", q.Job, some(jobs))
	case len(origins) > 0 && !slices.ContainsFunc(origins, begins):
		return fmt.Errorf("--dropped=%s: no relabel step comes from there; they come from %s", q.Origin, some(origins))
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// origins appends the origins of the steps of a job.
func (p *part) origins(job int, to []string) []string {
	for _, o := range p.jobs[job].Origins {
		to = append(to, o.Path)
	}
	return to
}

// maxNamed is the maximum number of names in an error.
const maxNamed = 20

// some returns a human-readable list of names.
func some(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return excerpt.List(names, maxNamed)
}
