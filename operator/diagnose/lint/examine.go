package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Examination holds the findings about manifests, with lookups by object.
type Examination struct {
	linter *linter
	about  map[string][]Finding // by object
}

// Examine checks manifests like [Check]. faults are the faults found when o was read for the kinds.
func Examine(o *manifests.Objects, faults []manifests.Fault, kinds []*engine.Kind, opts Options) *Examination {
	before := o.AssumeNamespaces
	o.AssumeNamespaces = true
	o.Promised()
	defer func() { o.AssumeNamespaces = before }()
	defer o.Share()()
	l := newLinter(o, opts)
	l.advises = true
	for _, f := range faults {
		l.manifestFault(f)
	}
	workloads := o.Workloads()
	for _, w := range workloads {
		l.workload(w)
	}
	if w, needed := standIn(kinds, workloads, opts.Version); needed {
		l.standIns = append(l.standIns, w.String())
		l.workload(w)
	}
	if w, needed := managerStandIn(kinds, o); needed {
		l.standIns = append(l.standIns, w.String())
		l.workload(w)
	}
	if len(workloads) > 0 {
		l.notSelected(workloads)
	}
	l.leftOut(kinds, workloads)
	for w, why := range o.Unmanaged() {
		f := about(w.Ref())
		f.Severity, f.Code, f.Message = SeverityNote, CodeNotSelected, why
		l.add(f, "")
	}
	l.nearMisses()
	l.rulesInConfigMaps()
	l.alertsTwice()
	l.commented()
	l.sort()
	e := &Examination{l, map[string][]Finding{}}
	for _, f := range slices.Concat(l.findings, l.counterparts) {
		e.about[f.object()] = append(e.about[f.object()], f)
	}
	return e
}

// Faults returns the findings about the faults that were found when o was read, sorted by file and line. It reconciles
// nothing, whose cost is the number of workloads times that of the objects.
func Faults(o *manifests.Objects, faults []manifests.Fault) []Finding {
	l := newLinter(o, Options{})
	for _, f := range faults {
		l.manifestFault(f)
	}
	l.sort()
	return l.findings
}

// Unsound returns the faults that affect the operator as an error with a line for each:
// "a.yaml:3: ServiceMonitor demo/web: spec.a: unknown field". It has the first [faults.Most], and the number of the others.
func Unsound(o *manifests.Objects, faulty []manifests.Fault) error {
	var out []error
	found := Faults(o, slices.DeleteFunc(slices.Clone(faulty), func(f manifests.Fault) bool { return f.Native }))
	for _, f := range found[:min(len(found), faults.Most)] {
		out = append(out, faults.At(f.Where(), errors.New(f.sentence())))
	}
	if more := len(found) - len(out); more > 0 {
		out = append(out, fmt.Errorf("and %s", report.Count(more, "more fault")))
	}
	return errors.Join(out...)
}

// Lines finds the lines of fields in manifests.
type Lines struct{ linter *linter }

// NewLines returns the lines of manifests.
func NewLines(o *manifests.Objects) Lines { return Lines{newLinter(o, Options{})} }

// Of prefixes an error about an object, or each of a joined one, with the line of its field: "a.yaml:3: spec.a: ...".
func (l Lines) Of(object catalog.Ref, err error) error {
	var out []error
	for _, f := range faults.Of(err) {
		where := l.linter.where(object, f.Field)
		if where == "" {
			return err
		}
		out = append(out, faults.In(where, errors.New(f.String())))
	}
	return errors.Join(out...)
}

// sort sorts the findings by file, line and object.
func (l *linter) sort() {
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
}

// Findings returns all findings, sorted by file and line.
func (e *Examination) Findings() []Finding { return e.linter.findings }

// About returns the findings about one object.
func (e *Examination) About(kind, namespace, name string) []Finding {
	return slices.Clone(e.about[Finding{Kind: kind, Namespace: namespace, Name: name}.object()])
}

// Outcomes returns the results of reconciling the workloads among the manifests, in the order
// of the workloads.
func (e *Examination) Outcomes() (out []dryrun.Outcome) {
	defer e.linter.objects.Share()()
	for _, m := range e.linter.made {
		if !e.linter.standsIn(m.workload.String()) {
			out = append(out, e.linter.outcome(m))
		}
	}
	return out
}

// Where returns the place of a field of an object, "prometheus.yaml:12"; empty if the object is
// not among the manifests.
func (e *Examination) Where(kind, namespace, name, field string) string {
	return e.linter.where(catalog.Ref{Kind: kind, Namespace: namespace, Name: name}, field)
}

// where returns the place of a field of an object, empty if the object is not among the manifests.
func (l *linter) where(object catalog.Ref, field string) string {
	at := about(object)
	at.Field = field
	if l.placeOf(at).File == "" {
		return ""
	}
	return lineOf(l.locate(at))
}

// DefaultNamespace reports whether the namespace of an object among the manifests is not in its manifest.
func (e *Examination) DefaultNamespace(kind, namespace, name string) bool {
	return e.linter.noNamespace(Finding{Kind: kind, Namespace: namespace, Name: name})
}

// lineOf returns "file:line", or the file if the line is unknown.
func lineOf(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Where returns the place of the finding, "prometheus.yaml:12"; empty if it has none.
func (f Finding) Where() string { return lineOf(f.File, f.Line) }

// Text returns the finding without its object: "a.yaml:3: error: spec.a: unknown field".
func (f Finding) Text() string {
	text := fmt.Sprintf("%s: %s", f.Severity, f.Message)
	if f.Field != "" {
		text = fmt.Sprintf("%s: %s: %s", f.Severity, f.Field, f.Message)
	}
	if where := f.Where(); where != "" {
		return where + ": " + text
	}
	return text
}

// Remarks returns the remarks about a workload and an object that it selects: valid settings
// with a probably unintended effect. It considers no other objects.
func Remarks(w dryrun.Workload, v fragments.Result) []Finding {
	l := newLinter(manifests.New(nil), Options{})
	l.advises = true
	l.results(w, []fragments.Result{v})
	l.workloadRemarks(about(w.Ref()), w)
	return slices.DeleteFunc(l.findings, func(f Finding) bool { return f.Code != CodeRemark })
}
