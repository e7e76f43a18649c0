package central

import (
	"math"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// share divides the memory for targets among the jobs if it does not suffice for all: the namespaces of
// workloads have equal shares, and within one the namespaces of the objects, and within these the jobs. Targets
// above the share of a job are left out of its lines, see [feed.Targets].
func (r *Runner) share() {
	total := 0
	sizes := map[string]int{}             // by namespace of the workload
	tenants := map[string]*jobsOfTenant{} // the same
	for _, w := range r.workloads {
		t := tenants[w.Namespace]
		if t == nil {
			t = &jobsOfTenant{sizes: map[string]int{}, jobs: map[string]map[*job]int{}}
			tenants[w.Namespace] = t
		}
		for _, j := range w.jobs {
			n := t.add(j)
			sizes[w.Namespace] += n
			total += n
		}
	}
	most := int(r.memory.Most)
	share := budget.Shares(sizes, most)
	if total <= most {
		share = math.MaxInt
	}
	for _, t := range tenants {
		t.divide(share)
	}
}

// jobsOfTenant are the jobs of the workloads in a namespace, with the sizes of their targets in bytes.
type jobsOfTenant struct {
	sizes map[string]int          // by namespace of the object
	jobs  map[string]map[*job]int // the same
}

// add adds a job and returns its size.
func (t *jobsOfTenant) add(j *job) int {
	n, of := j.size(), j.Object.Namespace
	if t.jobs[of] == nil {
		t.jobs[of] = map[*job]int{}
	}
	t.jobs[of][j] = n
	t.sizes[of] += n
	return n
}

// divide sets the shares of the jobs in the share of the tenant, which is [math.MaxInt] for no limit.
func (t *jobsOfTenant) divide(share int) {
	perObject := budget.Shares(t.sizes, share)
	for _, of := range t.jobs {
		perJob := budget.Shares(of, perObject)
		for j := range of {
			j.memory = perJob
		}
	}
}
