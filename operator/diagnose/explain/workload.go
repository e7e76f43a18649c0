package explain

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// WorkloadReport is the report about a workload among manifests.
type WorkloadReport struct {
	Object catalog.Ref `json:"object"`
	// Generated is true if the operator generates objects for the workload.
	Generated bool `json:"generated"`
	// Findings lists the findings of lint for the workload.
	Findings []lint.Finding `json:"findings"`
	// Uses is the number of objects that the workload uses, by kind.
	Uses []Selected `json:"uses"`
	// Unused lists the findings about objects that the workload rejects or does not select.
	Unused []lint.Finding `json:"unused,omitempty"`
}

// Selected is the number of objects of one kind that a workload selects.
type Selected struct {
	Kind     string `json:"kind"`
	Accepted int    `json:"accepted"`
	Rejected int    `json:"rejected"`
	// Of is the number of objects of the kind in the manifests.
	Of int `json:"of"`
}

// Workload returns the report about a workload among manifests that were read for the kinds.
// wrong are the faults found when they were read.
//
// Errors: the workload is not among the manifests.
func Workload(o *manifests.Objects, wrong []manifests.Fault, kinds []*engine.Kind, n Name) (WorkloadReport, error) {
	e := lint.Examine(o, wrong, kinds, lint.Options{})
	out := WorkloadReport{Object: catalog.Ref{Kind: n.row.Kind, Namespace: n.Namespace, Name: n.Name}, Findings: e.About(n.row.Kind, n.Namespace, n.Name), Uses: []Selected{}}
	outcomes := e.Outcomes()
	for i, w := range o.Workloads() {
		if w.Kind.Row == n.row && w.Key().Namespace == n.Namespace && w.Key().Name == n.Name {
			out.Generated = outcomes[i].Err == nil
			out.uses(o, e, w, outcomes[i])
			out.unused(e, w)
			return out, nil
		}
	}
	if len(out.Findings) > 0 { // its manifest cannot be read at all
		return out, nil
	}
	var others []string
	for _, w := range o.All(n.row) {
		others = append(others, w.GetNamespace()+"/"+w.GetName())
	}
	err := fmt.Errorf("no %s among the manifests (%s)", n, hold(n, others))
	return out, errors.Join(err, misspelled(e, wrong, n), skipped(o), unreadable(o, wrong))
}

// uses counts the objects that the workload can select. Objects whose manifest has errors count
// as rejected, because the API server rejects them.
func (r *WorkloadReport) uses(o *manifests.Objects, e *lint.Examination, w dryrun.Workload, outcome dryrun.Outcome) {
	for _, row := range manifests.Selectable([]*engine.Kind{w.Kind}) {
		s := Selected{Kind: row.Kind, Of: len(o.All(row))}
		for _, v := range outcome.Results {
			switch {
			case v.Kind != row.Kind:
			case v.Err != nil, slices.ContainsFunc(e.About(v.Kind, v.Object.GetNamespace(), v.Object.GetName()), refused):
				s.Rejected++
			default:
				s.Accepted++
			}
		}
		if s.Of > 0 {
			r.Uses = append(r.Uses, s)
		}
	}
}

// refused reports whether the API server rejects the object because of the finding.
func refused(f lint.Finding) bool {
	return f.Severity == lint.SeverityError && (f.Code == lint.CodeField || f.Code == lint.CodeInvalid)
}

// unused collects the findings about objects that the workload rejects or does not select.
func (r *WorkloadReport) unused(e *lint.Examination, w dryrun.Workload) {
	for _, f := range e.Findings() {
		rejects := slices.Contains(f.Workloads, w.String()) && (f.Code == lint.CodeRejected || f.Code == lint.CodeMissingReference)
		rejects = rejects || refused(f) && w.Kind.SelectsBy(f.Kind).Row != nil
		if rejects || f.Code == lint.CodeNotSelected && w.Kind.SelectsBy(f.Kind).Row != nil {
			r.Unused = append(r.Unused, f)
		}
	}
}

// Wrong reports whether the manifest has errors.
func (r WorkloadReport) Wrong() bool {
	return !r.Generated || slices.ContainsFunc(r.Findings, func(f lint.Finding) bool { return f.Severity == lint.SeverityError })
}

// Write writes the report in a format: "text" (human-readable) or "json".
func (r WorkloadReport) Write(w io.Writer, format string) error {
	return report.Write(w, format, r, r.text)
}

func (r WorkloadReport) text(w *strings.Builder) {
	switch {
	case !r.Generated:
		fmt.Fprintf(w, "the operator generates nothing for %s\n", r.Object)
	case r.Wrong():
		fmt.Fprintf(w, "%s has errors\n", r.Object)
	case len(r.Findings) > 0:
		fmt.Fprintf(w, "%s is accepted, with remarks\n", r.Object)
	default:
		fmt.Fprintf(w, "%s is accepted\n", r.Object)
	}
	for _, f := range r.Findings {
		fmt.Fprintln(w, f.Text())
	}
	var all []string
	for _, s := range r.Uses {
		text := fmt.Sprintf("%d of %d %s", s.Accepted, s.Of, s.Kind)
		if s.Of > 1 {
			text += "s"
		}
		if s.Rejected > 0 {
			text += fmt.Sprintf(" (%d rejected)", s.Rejected)
		}
		all = append(all, text)
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "uses      %s\n", strings.Join(all, ", "))
	}
	more := max(0, len(r.Unused)-maxOthers)
	for _, f := range r.Unused[:len(r.Unused)-more] {
		fmt.Fprintf(w, "  %s: %s\n", catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}, f.Text())
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more; see operator lint\n", more)
	}
}
