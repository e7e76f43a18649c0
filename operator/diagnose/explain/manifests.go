package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// FromManifests builds the question about an object among manifests. wrong are the faults found
// when the manifests were read; faults of unrelated objects are ignored.
//
// Errors: the object is not among the manifests, or its manifest has faults.
func FromManifests(o *manifests.Objects, wrong []manifests.Fault, setups []engine.Setup, n Name) (Question, error) {
	q := Question{Row: n.row, Setups: setups, NamespaceLabels: o.NamespaceLabels, NamespaceUnknown: o.NamespaceUnknown, References: &o.References, AsWritten: o.AsWritten}
	if err := faulty(o, wrong, setups, n); err != nil {
		return q, err
	}
	var others []string
	for _, obj := range o.All(n.row) {
		if obj.GetNamespace() == n.Namespace && obj.GetName() == n.Name {
			q.Object = obj
		}
		others = append(others, obj.GetNamespace()+"/"+obj.GetName())
	}
	if q.Object == nil {
		err := fmt.Errorf("no %s among the manifests (%s)", n, hold(n, others))
		e := lint.Examine(o, wrong, Kinds(setups), lint.Options{})
		return q, errors.Join(err, misspelled(e, wrong, n), skipped(o), unreadable(o, wrong)) // the object may be in an unreadable file
	}
	q.Findings = lint.Examine(o, wrong, Kinds(setups), lint.Options{})
	outcomes := q.Findings.Outcomes()
	for i, w := range o.Workloads() {
		for _, s := range setups {
			if s.Kind == w.Kind {
				c := Candidate{Setup: s, Object: w.Object}
				c.Faults = manifestFaults(wrong, w.Ref())
				c.Results = outcomes[i].Results
				c.Unwritten = outcomes[i].Plan.Reason == engine.ReasonConfigUnmanaged
				c.Fails, c.Pods = outcomes[i].Err != nil, podTrouble(o, w, outcomes[i])
				q.Workloads = append(q.Workloads, c)
			}
		}
	}
	q.Look = nearmiss.At(static.View(o, outcomes))
	return q, nil
}

// podTrouble returns why pods of a workload do not start: the Secrets and ConfigMaps that are
// missing. It is empty if there are none.
func podTrouble(o *manifests.Objects, w dryrun.Workload, outcome dryrun.Outcome) string {
	var all []string
	for _, m := range o.Missing(w, outcome) {
		text := m.Error()
		switch {
		case m.Err.Key == "":
			text += " among the manifests"
		case m.Err.Meant == "":
			text += manifest.Beside(m.Err.Key, o.References.Keys(m.Err.Ref))
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return ""
	}
	return "its pods wait for what is not there: " + strings.Join(all, "; ")
}

// faulty returns an error with all findings about an object whose manifest has faults; nil if it has none.
func faulty(o *manifests.Objects, wrong []manifests.Fault, setups []engine.Setup, n Name) error {
	own := faultsOf(wrong, n.ref())
	if len(own) == 0 {
		return nil
	}
	lines := []string{n.String() + " has errors"}
	for _, f := range lint.Examine(o, wrong, Kinds(setups), lint.Options{}).About(n.row.Kind, n.Namespace, n.Name) {
		lines = append(lines, f.Text())
	}
	if len(lines) == 1 {
		return lint.Unsound(o, own)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// unreadable returns the faults of documents and files without an object.
func unreadable(o *manifests.Objects, wrong []manifests.Fault) error {
	return lint.Unsound(o, faultsOf(wrong, catalog.Ref{}))
}

// misspelled returns the findings about manifests with the same name and an unknown kind.
func misspelled(e *lint.Examination, wrong []manifests.Fault, n Name) error {
	var lines []error
	for _, f := range wrong {
		if f.Namespace != n.Namespace || f.Name != n.Name {
			continue
		}
		for _, found := range e.About(f.Kind, f.Namespace, f.Name) {
			if found.Field == "kind" {
				lines = append(lines, errors.New(found.Text()))
			}
		}
	}
	return errors.Join(lines...)
}

// skipped returns an error that names the skipped files that seem to hold objects of our API.
func skipped(o *manifests.Objects) error {
	var lines []error
	for _, name := range o.SkippedAt[:min(o.SkippedOurs, maxOthers)] {
		lines = append(lines, fmt.Errorf("%s: skipped as not meant to be a manifest; templates must be rendered first", name))
	}
	return errors.Join(lines...)
}

// manifestFaults returns the faults of the manifest of a workload in one line; empty if it has none.
func manifestFaults(wrong []manifests.Fault, of catalog.Ref) string {
	var all faults.List
	for _, f := range faultsOf(wrong, of) {
		all.Add("", f.Err)
	}
	if !all.Any() {
		return ""
	}
	return strings.ReplaceAll(all.Err().Error(), "\n", "; ")
}

// faultsOf returns the faults of one object, or of whole documents and files if of is empty.
func faultsOf(wrong []manifests.Fault, of catalog.Ref) (out []manifests.Fault) {
	for _, f := range wrong {
		if (catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}) == of {
			out = append(out, f)
		}
	}
	return out
}

// maxOthers is the maximum number of objects that an error lists.
const maxOthers = 10

func hold(n Name, others []string) string {
	if len(others) == 0 {
		return "they hold no " + n.row.Kind
	}
	return "they hold " + excerpt.List(others, maxOthers)
}
