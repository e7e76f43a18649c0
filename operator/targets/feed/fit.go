package feed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of lists. Pods have little memory, and refuse a list that exceeds theirs as a whole; these
// are below those of pods, so that only the jobs that are too large are left out.
const (
	// maxLine is the maximum size in bytes of the targets of one job on one shard.
	maxLine = 15 << 20
	// maxPacked is the maximum compressed size in bytes of one list.
	maxPacked = 3 << 20
	// maxPlain is the maximum size in bytes of one list.
	maxPlain = 200 << 20
	// maxJobs is the maximum number of jobs in one list.
	maxJobs = 20_000
)

// TooLarge means that a job has too many targets for one list.
type TooLarge struct{ Targets, Bytes int }

// Error implements error.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("%d targets with %d MiB of labels are too much for one list: use more shards, or attach fewer labels", e.Targets, e.Bytes>>20)
}

// measure is the size of a job or of several.
type measure struct{ jobs, packed, plain int }

func (m *measure) add(o measure) {
	m.jobs, m.packed, m.plain = m.jobs+o.jobs, m.packed+o.packed, m.plain+o.plain
}

func (m *measure) sub(o measure) {
	m.jobs, m.packed, m.plain = m.jobs-o.jobs, m.packed-o.packed, m.plain-o.plain
}

// share returns how much of a list it takes, by the limit that it comes closest to; up to 1 it fits.
func (m measure) share() float64 {
	return max(float64(m.jobs)/maxJobs, float64(m.packed)/maxPacked, float64(m.plain)/maxPlain)
}

// sized is a job with its size.
type sized struct {
	name, namespace string
	measure
}

// exceeding returns the jobs to leave out so that the others fit into a list: from the namespace that
// takes most, its largest jobs. Other namespaces keep theirs.
func exceeding(jobs []sized) (out []string) {
	var total measure
	of := map[string]*measure{}
	by := map[string][]sized{}
	for _, j := range jobs {
		total.add(j.measure)
		if of[j.namespace] == nil {
			of[j.namespace] = &measure{}
		}
		of[j.namespace].add(j.measure)
		by[j.namespace] = append(by[j.namespace], j)
	}
	if total.share() <= 1 {
		return nil
	}
	for _, of := range by { // the largest last
		slices.SortFunc(of, func(a, b sized) int {
			return cmp.Or(cmp.Compare(a.share(), b.share()), cmp.Compare(a.packed, b.packed), strings.Compare(a.name, b.name))
		})
	}
	for total.share() > 1 {
		most := slices.MaxFunc(slices.Sorted(maps.Keys(of)), func(a, b string) int { return cmp.Compare(of[a].share(), of[b].share()) })
		last := len(by[most]) - 1
		largest := by[most][last]
		total.sub(largest.measure)
		of[most].sub(largest.measure)
		if by[most] = by[most][:last]; last == 0 {
			delete(of, most)
		}
		out = append(out, largest.name)
	}
	return out
}
