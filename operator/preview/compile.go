package preview

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Compiler reads one workload again and again: jobs of which nothing has changed stay the same
// values. It is not safe for concurrent use.
type Compiler struct {
	Options prometheus.Options

	known map[[sha256.Size]byte][]targets.Job // of the last time
}

// Read is [Read].
func (c *Compiler) Read(of explain.Candidate, cluster engine.Cluster) Workload {
	next := map[[sha256.Size]byte][]targets.Job{}
	out := read(of, cluster, c.Options, func(s prometheus.ScrapeSource) ([]targets.Job, error) {
		key := keyOfDocument(s)
		jobs, is := c.known[key]
		if !is {
			var err error
			if jobs, err = jobsOf(s); err != nil {
				return jobs, err
			}
		}
		next[key] = jobs
		return jobs, nil
	})
	c.known = next
	return out
}

// keyOfDocument is equal for equal jobs of the same object.
func keyOfDocument(s prometheus.ScrapeSource) (out [sha256.Size]byte) {
	h, d := sha256.New(), s.Document
	for _, text := range [][]byte{d.Text, d.Head, fmt.Appendf(nil, "%s %s %v %v %v %v", s.Kind, s.Field, d.Origins, d.Shards, d.Release, d.NoDefaultPort)} {
		_, _ = fmt.Fprintf(h, "%d\n", len(text))
		_, _ = h.Write(text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// jobsOf reads the jobs of a source.
func jobsOf(s prometheus.ScrapeSource) ([]targets.Job, error) {
	jobs, err := s.Document.Jobs()
	for i := range jobs {
		if s.Object == nil {
			jobs[i].HTTP = nil // from a Secret, whose URLs are not for others to ask
		}
	}
	return jobs, err
}

// Sources are the objects that have jobs, in the order of the configuration, and those that
// have none because they are rejected or not known.
func (w *Workload) Sources() (out []Source) {
	for i := range w.parts {
		out = append(out, Source{w.parts[i].object, w.parts[i].jobs})
	}
	return out
}

// Source is an object and its jobs.
type Source struct {
	Object
	Compiled []targets.Job
}

// Masked is a target without values that let somebody in: parameters of its URL, which are
// labels too, and the user in it.
func Masked(t targets.Target) targets.Target { return masked(t) }

// MaskedLabels are labels without values that let somebody in.
func MaskedLabels(l map[string]string) map[string]string {
	return masked(targets.Target{Discovered: l}).Discovered
}

// Add adds the numbers of others.
func (c *Counts) Add(other Counts) { c.join(&other) }

// AddRow counts a target.
func (c *Counts) AddRow(row *targets.Row) { c.add(row) }

// AddState adds a number of targets in a state; those that are dropped need the origin of the
// step.
func (c *Counts) AddState(s targets.State, origin string, n int) {
	if s == targets.Dropped {
		c.drop(origin, n)
		return
	}
	*c.of(s) += n
}

// IsAbout reports whether a target is one of a pod, or has its address.
func IsAbout(row *targets.Row, pod Query) bool { return pod.about(row) }

// Total is the number of all targets that are known.
func (c *Counts) Total() int {
	n := c.dropped()
	for _, s := range targets.States {
		if of := c.of(s); of != nil && !slices.Contains([]targets.State{targets.Unknown, targets.Forbidden}, s) {
			n += *of
		}
	}
	return n
}
