package preview

import (
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Compiler reads one workload repeatedly and reuses the jobs of unchanged objects. It has no hints
// for jobs without targets. It is not safe for concurrent use.
type Compiler struct {
	Options prometheus.Options

	scraper *prometheus.Scraper
	// State of the last call: the text that all jobs depend on, and the jobs of each object.
	common string
	known  map[*prometheus.CompiledMonitor]knownJobs
	own    []targets.Job // of the workload itself
	text   string        // source text of own
}

// knownJobs is the cached result of reading the jobs of one object.
type knownJobs struct {
	jobs []targets.Job
	cost int // of their regular expressions, in the unit of [Bounds]
	text int // size of their source text in bytes
}

// Limits of the cache of a Compiler: reading takes about 25 times the size of the text, and a regular
// expression 20 bytes per unit of its cost.
const (
	// maxJobText is the maximum size in bytes of the jobs of one object.
	maxJobText = 512 << 10
	// maxCost is the maximum cost of the regular expressions of all objects of one namespace.
	maxCost = 1_500_000
)

// tooMuch returns the error of jobs that exceed a limit.
func tooMuch(what string) error {
	return fmt.Errorf("%s: too much to be looked at here; operator targets shows its targets", what)
}

// tooLong returns the error of jobs that are too long to be read.
func tooLong(d *promconfig.JobText) error {
	if len(d.Text) <= maxJobText {
		return nil
	}
	return tooMuch(fmt.Sprintf("its jobs have %d KiB", len(d.Text)>>10))
}

// Read is [Read] with a cache. Jobs that exceed a limit have an error, without effect on other
// namespaces.
func (c *Compiler) Read(of explain.Candidate, cluster engine.Cluster) Workload {
	if c.scraper == nil {
		c.scraper = &prometheus.Scraper{Options: c.Options}
	}
	common := ""
	scrapes, err := c.scraper.Scrapes(of.Object, cluster, func(m *prometheus.CompiledMonitor) bool { _, is := c.known[m]; return is })
	if len(scrapes.Sources) > 0 {
		d := scrapes.Sources[0].Document
		common = fmt.Sprintf("%s\n%v %v %v", d.Head, d.Shards, d.Release, d.NoDefaultPort)
	}
	if common != c.common {
		if len(c.known) > 0 { // their text was not compiled again
			c.common, c.known, c.own, c.text = common, nil, nil, ""
			return c.Read(of, cluster)
		}
		c.common = common
	}
	next, costs := map[*prometheus.CompiledMonitor]knownJobs{}, map[string]int{}
	out := read(of, scrapes, err, reading{jobs: func(s prometheus.ScrapeSource) ([]targets.Job, error) {
		if s.Compiled == nil {
			return c.ownJobs(s)
		}
		k, is := c.known[s.Compiled]
		if !is {
			if err := tooLong(&s.Document); err != nil {
				return nil, err
			}
			k.cost, k.text = costOf(&s.Document), len(s.Document.Text)
		}
		namespace := s.Object.GetNamespace()
		if sum := costs[namespace] + k.cost; sum > maxCost {
			return nil, tooMuch(fmt.Sprintf("the regular expressions of the namespace compile to %d MB", sum/50_000))
		}
		costs[namespace] += k.cost
		var err error
		if !is {
			k.jobs, err = jobsOf(s)
		}
		if err == nil {
			next[s.Compiled] = k
		}
		return k.jobs, err
	}})
	c.known = next
	return out
}

// Approximate memory of jobs in bytes: per byte of their text, and per unit of the cost of their
// regular expressions.
const (
	textWeight = 6
	costWeight = 20
)

// Weight returns the approximate memory of the cached jobs in bytes.
func (c *Compiler) Weight() (bytes int) {
	for _, k := range c.known {
		bytes += textWeight*k.text + costWeight*k.cost
	}
	return bytes + textWeight*len(c.text)
}

// ownJobs returns the jobs of the workload itself.
func (c *Compiler) ownJobs(s prometheus.ScrapeSource) (jobs []targets.Job, err error) {
	text := fmt.Sprintf("%s\n%s\n%v", c.common, s.Document.Text, s.Document.Origins)
	if text == c.text && c.own != nil {
		return c.own, nil
	}
	if jobs, err = jobsOf(s); err == nil {
		c.own, c.text = jobs, text
	}
	return jobs, err
}

// Close releases the cache. The Compiler can be used again.
func (c *Compiler) Close() {
	if c.scraper != nil {
		c.scraper.Close()
	}
	c.scraper, c.common, c.known, c.own, c.text = nil, "", nil, nil, ""
}

// jobsOf reads the jobs of a source.
func jobsOf(s prometheus.ScrapeSource) ([]targets.Job, error) {
	jobs, err := targets.ReadJobs(s.Document)
	for i := range jobs {
		if s.Object == nil {
			jobs[i].HTTP = nil // from a Secret, whose URLs must not be requested on behalf of others
		}
	}
	return jobs, err
}

// Sources returns the objects that have jobs, in configuration order, and those that have none
// because they are rejected or unknown.
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

// AddState adds a number of targets in a state. For dropped targets, origin is the origin of the
// step.
func (c *Counts) AddState(s targets.State, origin string, n int) {
	if s == targets.Dropped {
		c.drop(origin, n)
		return
	}
	*c.of(s) += n
}

// In returns the number of targets in a state.
func (c *Counts) In(s targets.State) int {
	if of := c.of(s); of != nil {
		return *of
	}
	return c.dropped()
}

// IsAbout reports whether a target belongs to a pod, or has its address.
func IsAbout(row *targets.Row, pod Query) bool { return pod.about(row) }

// Total returns the number of all known targets.
func (c *Counts) Total() int {
	n := c.dropped()
	for _, s := range targets.States {
		if of := c.of(s); of != nil && !slices.Contains([]targets.State{targets.Unknown, targets.Forbidden}, s) {
			n += *of
		}
	}
	return n
}
