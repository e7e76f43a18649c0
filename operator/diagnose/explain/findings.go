package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// Hint is a probable mistake.
type Hint struct {
	nearmiss.Hint
	// Workload is the workload that has the field. Absent if the object has it.
	Workload string `json:"workload,omitempty"`
	// Place is the position of the field in the manifests, for example "prometheus.yaml:12". Absent without manifests.
	Place string `json:"place,omitempty"`
}

// String returns place, workload, field and message.
func (h Hint) String() string {
	text := h.Hint.String()
	for _, before := range []string{h.Workload, h.Place} {
		if before != "" {
			text = before + ": " + text
		}
	}
	return text
}

// remarks adds the findings about an object that the workload accepts, and about the workload.
func (c Candidate) remarks(of fragments.Result, q *Question, v *Result) {
	if q.Findings != nil {
		own := slices.DeleteFunc(c.found(q), func(f lint.Finding) bool {
			alerting := strings.HasPrefix(f.Field, "spec.alerting")
			return alerting && of.File == "" || !alerting && f.Code == lint.CodeNoTarget
		})
		v.Hints = append(c.hints(q.found(), lint.CodeRemark, lint.CodeNoTarget, lint.CodeDuplicateTarget), c.hints(own, lint.CodeRemark, lint.CodeNoTarget)...)
		return
	}
	w := dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object}
	v.Hints = c.hints(lint.Remarks(w, of), lint.CodeRemark)
}

// found returns the findings about the object. It requires q.Findings.
func (q *Question) found() []lint.Finding {
	return q.Findings.About(q.Row.Kind, q.Object.GetNamespace(), q.Object.GetName())
}

// found returns the findings about the workload. It requires q.Findings.
func (c Candidate) found(q *Question) []lint.Finding {
	return q.Findings.About(c.Setup.Row.Kind, c.Object.GetNamespace(), c.Object.GetName())
}

// concerns reports whether a finding applies to the workload.
func (c Candidate) concerns(f lint.Finding) bool {
	return len(f.Workloads) == 0 || slices.Contains(f.Workloads, c.Ref().String())
}

// hints returns the findings with one of the codes that apply to the workload.
func (c Candidate) hints(all []lint.Finding, codes ...string) (out []Hint) {
	for _, f := range all {
		if !slices.Contains(codes, f.Code) || !c.concerns(f) {
			continue
		}
		h := Hint{Hint: nearmiss.Hint{Code: nearmiss.Code(f.Code), Note: f.Severity == lint.SeverityNote, Field: f.Field, Message: f.Message}, Place: f.Where()}
		if f.Kind == c.Setup.Row.Kind {
			h.Workload = c.Ref().String()
		}
		out = append(out, h)
	}
	return out
}

// ofObject converts hints about fields of the object.
func ofObject(all []nearmiss.Hint) (out []Hint) {
	for _, h := range all {
		out = append(out, Hint{Hint: h})
	}
	return out
}

// ofWorkload converts hints about fields of the workload.
func (c Candidate) ofWorkload(q *Question, all []nearmiss.Hint) (out []Hint) {
	for _, h := range all {
		at := Hint{Hint: h, Workload: c.Ref().String()}
		if q.Findings != nil {
			at.Place = q.Findings.Where(c.Setup.Row.Kind, c.Object.GetNamespace(), c.Object.GetName(), h.Field)
		}
		out = append(out, at)
	}
	return out
}

// rejection returns why the workload rejects the object. For manifests, it includes the places
// and suggestions of the findings.
func (c Candidate) rejection(q *Question, err error) string {
	if q.Findings == nil {
		return err.Error()
	}
	var lines []string
	for _, f := range q.found() {
		if c.concerns(f) && (f.Code == lint.CodeRejected || f.Code == lint.CodeMissingReference) {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", f.Where(), f.Field, f.Message))
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}

// broken returns why the operator generates nothing for the workload; empty if it does.
func (c Candidate) broken(q *Question) string {
	if q.Findings == nil || !c.Fails {
		return ""
	}
	var all []string
	for _, f := range c.found(q) {
		if f.Severity == lint.SeverityError && (f.Code == lint.CodeWorkload || f.Code == lint.CodeMissingReference) {
			all = append(all, f.Text())
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "nothing is generated for it, so its pods do not get the object:\n" + strings.Join(all, "\n")
}

// where returns the places of the fields because of which the object is not selected.
func (i inquiry) where(v *Result) []string {
	if i.q.Findings == nil || v.Selector == "" {
		return nil
	}
	row, w, object := i.c.Setup.Row, i.c.Object, i.q.Object
	field := "metadata.labels"
	if v.Reason == NamespaceNotSelected || v.Reason == NotKnown {
		field = "metadata.namespace"
	} else if v.Reason == LabelsNotSelected && len(v.Misses) == 1 && v.Misses[0].Has() {
		field = labelField(v.Misses[0].Label)
	}
	var out []string
	if at := i.q.Findings.Where(i.q.Row.Kind, object.GetNamespace(), object.GetName(), field); at != "" && v.Reason != SelectorNotSet && (v.Reason != NotKnown || len(v.Misses) > 0) {
		unset := ""
		if field == "metadata.namespace" && i.q.Findings.DefaultNamespace(i.q.Row.Kind, object.GetNamespace(), object.GetName()) {
			unset = " is not set, which counts as " + object.GetNamespace()
		}
		out = append(out, fmt.Sprintf("%s: %s of the %s%s%s", at, field, i.q.Row, unset, i.instead(v)))
	}
	if v.Reason == NamespaceNotSelected && len(v.Misses) == 1 {
		labels := "metadata.labels"
		if v.Misses[0].Has() {
			labels = labelField(v.Misses[0].Label)
		}
		if at := i.q.Findings.Where("Namespace", "", object.GetNamespace(), labels); at != "" {
			out = append(out, fmt.Sprintf("%s: %s of Namespace %s", at, labels, object.GetNamespace()))
		}
	}
	if at := i.q.Findings.Where(row.Kind, w.GetNamespace(), w.GetName(), v.Selector); at != "" {
		out = append(out, fmt.Sprintf("%s: %s of the %s", at, v.Selector, row))
	}
	return out
}

// labelField returns the path of a label.
func labelField(name string) string { return fmt.Sprintf("metadata.labels[%q]", name) }

// instead returns where the object has the label that it lacks, or what to change so that its namespace is selected, as
// the end of a line; empty if that is not known.
func (i inquiry) instead(v *Result) string {
	if v.Reason == NamespaceNotSelected && len(v.Misses) == 1 {
		return lint.NamespaceRemedy(i.q.Object.GetNamespace(), v.Misses[0])
	}
	if v.Reason != LabelsNotSelected || len(v.Misses) != 1 || v.Misses[0].Has() {
		return ""
	}
	if remedy := lint.MissingLabel(i.q.Object, v.Misses[0].Label); remedy != "add it" {
		return "; " + remedy
	}
	return ""
}

// findings returns the text of the findings about the object; nil in a cluster.
func (q *Question) findings() (out []string) {
	if q.Findings == nil {
		return nil
	}
	for _, f := range q.found() {
		out = append(out, f.Text())
	}
	return out
}
