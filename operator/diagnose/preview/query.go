package preview

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Finder finds what the discoveries of jobs look at, in a cluster or among manifests.
type Finder interface {
	// Find returns an entry for each job, and sentences about what is not known of all of
	// it. What may not be read is a gap of the job.
	//
	// Errors: nothing was found out.
	Find(ctx context.Context, jobs []targets.Job, w *Workload) (found []targets.Found, notes []string, err error)
}

// AllShards is the Shard of a query about all.
const AllShards = -1

// Query says what is asked. Its zero value but for Shard is a question about everything.
type Query struct {
	// Owner limits the answer to a workload, Object to the jobs of an object, Job to a job.
	Owner, Object catalog.Ref
	Job           string
	// Namespace limits the answer to objects of a namespace; empty for all.
	Namespace string
	// Pod limits the answer to targets of a pod, IP to those of its address too.
	Pod types.NamespacedName
	IP  string
	// Shard is the one that is asked about, or AllShards.
	Shard int
	// States of targets that are listed; nil for all. Counts do not depend on it.
	States []targets.State
	// Origin limits the dropped targets that are listed to those of steps whose origin
	// begins so.
	Origin string
	// Limit of the targets that are listed; 0 for none.
	Limit int
	// Overlaps asks for what is scraped more than once; with OverlapsOnly people read of
	// nothing else.
	Overlaps, OverlapsOnly bool
	// Look (optional) is where is looked for what the author of a job probably meant that has
	// no targets.
	Look nearmiss.Look
	// Servers (optional) are asked which targets they have, for a comparison.
	Servers Asker
}

// asksFor reports whether a job is one that is asked about.
func (q *Query) asksFor(object catalog.Ref, job string) bool {
	return (q.Object == catalog.Ref{} || q.Object == object) && (q.Job == "" || q.Job == job) && q.in(object)
}

// in reports whether an object is in the namespace that is asked about.
func (q *Query) in(object catalog.Ref) bool {
	return q.Namespace == "" || q.Namespace == object.Namespace
}

// lists reports whether a target is to be listed.
func (q *Query) lists(t *targets.Row) bool {
	return (q.States == nil || slices.Contains(q.States, t.State)) && (t.Drop == nil || strings.HasPrefix(t.Drop.Origin, q.Origin))
}

// about reports whether a target is one that is asked about: that of the pod, if one is.
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

// Check reports what is asked for and does not exist. Messages begin with the flag of the
// command.
func (q *Query) Check(all []Workload) error {
	most := 0
	var jobs, origins []string
	for i := range all {
		w := &all[i]
		if (q.Owner != catalog.Ref{}) && q.Owner != w.Ref {
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
	slices.SortFunc(origins, func(a, b string) int { // fields before what no field asks for
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

// origins adds those of the steps of a job.
func (p *part) origins(job int, to []string) []string {
	for _, o := range p.jobs[job].Origins {
		to = append(to, o.Path)
	}
	return to
}

// maxNamed bounds the names in an error.
const maxNamed = 20

// some lists names for people.
func some(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > maxNamed:
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", n-maxNamed)
	}
	return strings.Join(names, ", ")
}
