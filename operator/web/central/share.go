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
	owners := map[string]int{}
	objects := map[string]map[string]int{}
	jobs := map[string]map[string]map[*job]int{}
	for _, w := range r.workloads {
		for _, j := range w.jobs {
			n := j.size()
			total += n
			owners[w.Namespace] += n
			of := j.Object.Namespace
			if objects[w.Namespace] == nil {
				objects[w.Namespace], jobs[w.Namespace] = map[string]int{}, map[string]map[*job]int{}
			}
			if jobs[w.Namespace][of] == nil {
				jobs[w.Namespace][of] = map[*job]int{}
			}
			objects[w.Namespace][of] += n
			jobs[w.Namespace][of][j] = n
		}
	}
	most := int(r.memory.Most)
	perOwner := budget.Shares(owners, most)
	for owner, all := range jobs {
		perObject := budget.Shares(objects[owner], perOwner)
		for _, of := range all {
			perJob := budget.Shares(of, perObject)
			for j := range of {
				j.memory = perJob
				if total <= most {
					j.memory = math.MaxInt
				}
			}
		}
	}
}
