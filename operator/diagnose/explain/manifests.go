package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// FromManifests asks about an object among manifests, which were read for the kinds, with
// faults. Those of objects that have no part in the answer do not matter.
//
// Errors: the object is not among them, or its manifest has faults.
func FromManifests(o *manifests.Objects, wrong []manifests.Fault, setups []engine.Setup, n Name) (Question, error) {
	q := Question{Row: n.row, Setups: setups, NamespaceLabels: o.NamespaceLabels, NamespaceUnknown: o.NamespaceUnknown, References: &o.References, AsWritten: o.AsWritten}
	if err := faultsOf(wrong, n.row.Kind, n.Namespace, n.Name, true); err != nil {
		return q, faulty(lint.Examine(o, wrong, Kinds(setups), lint.Options{}), n, err)
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
		return q, errors.Join(err, misspelled(e, wrong, n), skipped(o), faultsOf(wrong, "", "", "", true)) // it may be in one that cannot be read
	}
	q.Findings = lint.Examine(o, wrong, Kinds(setups), lint.Options{})
	outcomes := q.Findings.Outcomes()
	for i, w := range o.Workloads() {
		for _, s := range setups {
			if s.Kind == w.Kind {
				c := Candidate{Setup: s, Object: w.Object}
				c.Faults = manifestFaults(wrong, w.Kind.Kind, w.Key().Namespace, w.Key().Name)
				c.Fails, c.Pods = outcomes[i].Err != nil, podTrouble(o, w, outcomes[i])
				q.Workloads = append(q.Workloads, c)
			}
		}
	}
	q.Look = nearmiss.At(static.View(o, outcomes))
	return q, nil
}

// podTrouble says why pods of a workload do not start.
func podTrouble(o *manifests.Objects, w manifests.Workload, outcome manifests.Outcome) string {
	var all []string
	for _, m := range o.Missing(w, outcome) {
		text := m.Error()
		if m.Err.Key == "" {
			text += " among the manifests"
		} else {
			text += manifest.Beside(m.Err.Key, o.References.Keys(m.Err.Ref))
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return ""
	}
	return "its pods wait for what is not there: " + strings.Join(all, "; ")
}

// faulty says all that was found about an object whose manifest has faults.
func faulty(e *lint.Examination, n Name, err error) error {
	lines := []string{n.String() + " has errors"}
	for _, f := range e.About(n.row.Kind, n.Namespace, n.Name) {
		lines = append(lines, f.Text())
	}
	if len(lines) == 1 {
		return err
	}
	return errors.New(strings.Join(lines, "\n"))
}

// misspelled says what is wrong with manifests of the name whose kind does not exist.
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

// skipped names the files of our API that were not read.
func skipped(o *manifests.Objects) error {
	var lines []error
	for _, name := range o.SkippedAt[:min(o.SkippedOurs, maxOthers)] {
		lines = append(lines, fmt.Errorf("%s: skipped as not meant to be a manifest; templates must be rendered first", name))
	}
	return errors.Join(lines...)
}

// manifestFaults says in a line what is wrong with the manifest of a workload; empty if nothing is.
func manifestFaults(wrong []manifests.Fault, kind, namespace, name string) string {
	err := faultsOf(wrong, kind, namespace, name, false)
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// faultsOf are those of one object; with the place if it is wanted. Without a kind they are
// those of whole documents and files.
func faultsOf(wrong []manifests.Fault, kind, namespace, name string, places bool) error {
	var all faults.List
	for _, f := range wrong {
		if f.Kind == kind && f.Namespace == namespace && f.Name == name {
			where := ""
			if places {
				where = f.Where()
			}
			all.Add(where, f.Err)
		}
	}
	return all.Err()
}

// maxOthers bounds the objects that an error names.
const maxOthers = 10

func hold(n Name, others []string) string {
	rest := ""
	if more := len(others) - maxOthers; more > 0 {
		others, rest = others[:maxOthers], fmt.Sprintf(" and %d more", more)
	}
	if len(others) == 0 {
		return "they hold no " + n.row.Kind
	}
	return "they hold " + strings.Join(others, ", ") + rest
}
