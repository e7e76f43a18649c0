package feed

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// Limits of lists. Pods have little memory, and refuse a list that exceeds theirs as a whole; these
// are below those of pods, so that only the jobs that are too large are left out.
const (
	// maxTarget is the maximum size in bytes of the labels of one target. It bounds the memory for pods with
	// the maximum number of annotations. Pods refuse more than 1 MiB.
	maxTarget = 128 << 10
	// maxLine is the maximum size in bytes of the targets of one job on one shard.
	maxLine = 15 << 20
	// maxPacked is the maximum compressed size in bytes of one list.
	maxPacked = 3 << 20
	// maxPlain is the maximum size in bytes of one list.
	maxPlain = 200 << 20
	// maxJobs is the maximum number of jobs in one list.
	maxJobs = 20_000
)

// measure is the size of a job or of several.
type measure struct{ jobs, packed, plain int }

func (m *measure) add(o measure) {
	m.jobs, m.packed, m.plain = m.jobs+o.jobs, m.packed+o.packed, m.plain+o.plain
}

func (m *measure) sub(o measure) {
	m.jobs, m.packed, m.plain = m.jobs-o.jobs, m.packed-o.packed, m.plain-o.plain
}

// share returns the fraction of a list that it takes, by the limit that it comes closest to. Up to 1 it fits.
func (m measure) share() float64 {
	return max(float64(m.jobs)/maxJobs, float64(m.packed)/maxPacked, float64(m.plain)/maxPlain)
}

// sizedJob is a job with its size.
type sizedJob struct {
	name, namespace string
	measure
}

// heaviest is a heap of namespaces, the one that uses most of a list first.
type heaviest []*namespace

// namespace has the jobs of a namespace, the largest last.
type namespace struct {
	name string
	jobs []sizedJob
	measure
}

func (h heaviest) Len() int { return len(h) }
func (h heaviest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].share(), h[i].share()), strings.Compare(h[i].name, h[j].name)) < 0
}
func (h heaviest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heaviest) Push(v any)   { *h = append(*h, v.(*namespace)) }

// Pop implements [heap.Interface].
func (h *heaviest) Pop() any {
	last := len(*h) - 1
	out := (*h)[last]
	*h = (*h)[:last]
	return out
}

// exceeding returns the jobs to leave out so that the others fit into a list: from the namespace that
// takes most, its largest jobs. Other namespaces keep theirs.
func exceeding(jobs []sizedJob) (out []string) {
	var total measure
	by := map[string]*namespace{}
	for _, j := range jobs {
		total.add(j.measure)
		of := by[j.namespace]
		if of == nil {
			of = &namespace{name: j.namespace}
			by[j.namespace] = of
		}
		of.add(j.measure)
		of.jobs = append(of.jobs, j)
	}
	if total.share() <= 1 {
		return nil
	}
	var all heaviest
	for _, of := range by { // the largest last
		slices.SortFunc(of.jobs, func(a, b sizedJob) int {
			return cmp.Or(cmp.Compare(a.share(), b.share()), cmp.Compare(a.packed, b.packed), strings.Compare(a.name, b.name))
		})
		all = append(all, of)
	}
	heap.Init(&all)
	for total.share() > 1 {
		most := all[0]
		last := len(most.jobs) - 1
		largest := most.jobs[last]
		total.sub(largest.measure)
		most.sub(largest.measure)
		if most.jobs = most.jobs[:last]; last == 0 {
			heap.Pop(&all)
		} else {
			heap.Fix(&all, 0)
		}
		out = append(out, largest.name)
	}
	return out
}

// fits is the fraction of a limit that reduced jobs may take together, so that the next change of one of them does not
// exceed it again.
const fits = 0.9

// excess returns the jobs that must shrink so that a list fits, each with the fraction of its size that it may
// have: namespaces have equal shares, and so do the jobs of a namespace.
func excess(jobs []sizedJob) map[string]float64 {
	out := map[string]float64{}
	exceed(jobs, maxPacked, func(j sizedJob) int { return j.packed }, out)
	exceed(jobs, maxPlain, func(j sizedJob) int { return j.plain }, out)
	return out
}

// exceed adds the excess over one limit, unless a job must shrink more already.
func exceed(jobs []sizedJob, most int, size func(sizedJob) int, out map[string]float64) {
	total, claims := 0, map[string]int{}
	by := map[string]map[string]int{}
	for _, j := range jobs {
		total += size(j)
		claims[j.namespace] += size(j)
		if by[j.namespace] == nil {
			by[j.namespace] = map[string]int{}
		}
		by[j.namespace][j.name] = size(j)
	}
	if total <= most {
		return
	}
	share := budget.Shares(claims, int(fits*float64(most)))
	for namespace, claim := range claims {
		if claim <= share {
			continue
		}
		each := budget.Shares(by[namespace], share)
		for name, size := range by[namespace] {
			if size > each {
				out[name] = min(cmp.Or(out[name], 1), float64(each)/float64(size))
			}
		}
	}
}
