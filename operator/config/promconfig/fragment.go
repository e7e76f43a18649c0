package promconfig

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Fragment is a compiled monitor. It is immutable.
type Fragment struct {
	// YAML holds the monitor's items of scrape_configs ("- job_name: ..."); empty if it is rejected.
	YAML []byte
	// Jobs is the number of items.
	Jobs int
	// Regexps is the compiled size of the regular expressions of its relabelings, in the unit of [regexcost.Of].
	Regexps int
	// Dropped lists keys that the version does not support; scrape_configs[i] is endpoint i of the monitor.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps that the monitor depends on, even if it is rejected.
	Deps []assets.Dependency
	// Files are TLS assets by file name, including those loaded before a rejection.
	Files map[string][]byte
	// Err is why the monitor is rejected. If assets.IsTemporary(Err), the cluster could not be
	// read: do not cache the fragment and do not reject the monitor.
	Err error
	// Origins holds the origins of the relabel_configs of each job, one per step; nil if the
	// monitor is rejected or without [Settings.WithOrigins].
	Origins [][]Origin
}

// JobNames returns the names of the jobs in the text of a fragment, in order.
func JobNames(text []byte) (out []string) {
	for line := range bytes.Lines(text) {
		if name, is := bytes.CutPrefix(line, []byte("- job_name: ")); is {
			out = append(out, string(bytes.Trim(bytes.TrimSpace(name), `"'`)))
		}
	}
	return out
}

// JobNamesOf returns the names of the n jobs of a monitor.
func JobNamesOf(kind string, m metav1.Object, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = nameOfJob(kind, m, i)
	}
	return out
}

// nameOfJob returns the name of job i. Kinds with endpoints have one job per endpoint.
func nameOfJob(kind string, m metav1.Object, i int) string {
	name := strings.ToLower(kind[:1]) + kind[1:] + "/" + m.GetNamespace() + "/" + m.GetName()
	if kind == v1.ServiceMonitorKind || kind == v1.PodMonitorKind {
		name += "/" + strconv.Itoa(i)
	}
	return name
}

// compiler compiles one monitor to a fragment.
type compiler struct {
	s *Settings
	// rules are the rules of s, charged to the budget of the monitor.
	rules relabelRules
	// own resolves the references of the monitor, owner those of the workload.
	own, owner *resolver
	// origins holds the origins of the steps of the jobs, if requested.
	origins [][]Origin
	// jobs are the encoded jobs.
	jobs *gate.Items
}

// write appends a job to the fragment.
//
// Errors: the object generates more bytes than allowed.
func (c *compiler) write(job any) error {
	err := c.jobs.Add(job)
	if errors.Is(err, gate.ErrTooLong) || len(c.jobs.Text) > budget.GeneratedBytes {
		return fmt.Errorf("the object generates too many bytes of configuration, the limit is %d", budget.GeneratedBytes)
	}
	return err
}

// compile runs build, which writes jobs, and returns the resulting fragment.
func (s *Settings) compile(object metav1.Object, r assets.Reader, build func(c *compiler) error) Fragment {
	if err := v1.Undecodable(object); err != nil {
		return Fragment{Err: err}
	}
	namespace := object.GetNamespace()
	c := &compiler{s: s, rules: s.rules.ofObject(), own: newResolver(namespace, r, s.target),
		jobs: gate.NewItems(s.target, "scrape_configs", budget.GeneratedBytes)}
	c.jobs.Literal = new(variableCheck).literal
	c.owner = c.own
	if s.data.Namespace != "" && s.data.Namespace != namespace {
		c.owner = newResolver(s.data.Namespace, r, s.target)
	}
	var f Fragment
	if f.Err = faults.At("spec", build(c)); f.Err == nil {
		f.YAML, f.Dropped, f.Jobs, f.Origins = c.jobs.Text, c.jobs.Dropped, c.jobs.Len(), c.origins
		f.Regexps = c.rules.regexps.Spent()
	}
	f.Deps, f.Files = c.own.Dependencies(), c.own.Files()
	if c.owner != c.own {
		f.Deps = mergeDependencies(f.Deps, c.owner.Dependencies())
		f.Files = mergeFiles(f.Files, c.owner.Files())
	}
	return f
}

func mergeDependencies(a, b []assets.Dependency) []assets.Dependency {
	out := append(slices.Clip(a), b...)
	slices.SortFunc(out, func(x, y assets.Dependency) int { return x.Ref.Compare(y.Ref) })
	return slices.CompactFunc(out, func(x, y assets.Dependency) bool { return x.Ref == y.Ref })
}

func mergeFiles(a, b map[string][]byte) map[string][]byte {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}
