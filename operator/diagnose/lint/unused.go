package lint

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// selector is the rule with which a workload selects objects of one kind.
type selector struct {
	workload dryrun.Workload
	rule     selection.Rule
	key      string // of the rule
}

// Unselected returns a finding for each object that no workload selects. The message begins with
// "not selected by ", or with "cannot tell whether it is selected by " if that is uncertain.
func Unselected(o *manifests.Objects) []Finding {
	l := newLinter(o, Options{})
	l.lonely = true
	if workloads := o.Workloads(); len(workloads) > 0 {
		l.notSelected(workloads)
	}
	return l.findings
}

// NotSelected returns one line for each object that no workload selects, with the reason:
// "not selected ServiceMonitor app/web: ...", or "perhaps not selected ..." if labels of its
// namespace are unknown.
func NotSelected(o *manifests.Objects) (lines []string) {
	for _, f := range Unselected(o) {
		if line, unknown := strings.CutPrefix(f.Message, cannotTell); unknown {
			lines = append(lines, fmt.Sprintf("perhaps not selected %s: %s", f.object(), line))
			continue
		}
		lines = append(lines, fmt.Sprintf("not selected %s: %s", f.object(), strings.TrimPrefix(f.Message, notSelectedBy)))
	}
	slices.Sort(lines)
	return lines
}

// Prefixes of messages.
const (
	notSelectedBy = "not selected by "
	cannotTell    = "cannot tell whether it is selected by "
)

// notSelected reports objects that no workload selects, and why.
func (l *linter) notSelected(workloads []dryrun.Workload) {
	l.rulesOfAgents(workloads)
	for _, row := range selected(workloads) { // other objects are for a workload elsewhere
		var all []selector
		for _, w := range workloads {
			rules, err := w.Kind.Selectors(w.Object) // an invalid selector is reported with its workload
			if err == nil && w.Kind.SelectsBy(row.Kind).Row == row {
				all = append(all, selector{w, rules[row.Kind], rules[row.Kind].Key()})
			}
		}
		for _, object := range l.objects.All(row) {
			l.unused(row, object, all)
		}
	}
}

// rulesOfAgents reports rules if there are agents, and nothing that evaluates rules.
func (l *linter) rulesOfAgents(workloads []dryrun.Workload) {
	i := slices.IndexFunc(workloads, func(w dryrun.Workload) bool { return w.Kind.Row == catalog.PrometheusAgent })
	if i < 0 || slices.Contains(selected(workloads), catalog.PrometheusRule) {
		return
	}
	for _, object := range l.objects.All(catalog.PrometheusRule) {
		f := about(catalog.RefOf(catalog.PrometheusRule.Kind, object))
		f.Severity, f.Code = SeverityNote, CodeNotSelected
		f.Message = fmt.Sprintf("nothing among the manifests evaluates rules: %s only scrapes and forwards; a Prometheus or a ThanosRuler with a spec.ruleSelector evaluates them", workloads[i])
		l.add(f, "")
	}
}

// leftOut reports objects of the kinds that no workload among the manifests selects, if the flags of the operator
// leave them out.
func (l *linter) leftOut(kinds []*engine.Kind, workloads []dryrun.Workload) {
	others := selected(workloads)
	for _, row := range manifests.Selectable(kinds) {
		if slices.Contains(others, row) {
			continue // see notSelected
		}
		for _, object := range l.objects.All(row) {
			l.unwatched(row, object)
		}
	}
}

// unwatched reports an object in a namespace that the flags of the operator leave out, and whether it is in one.
func (l *linter) unwatched(row *catalog.Row, object catalog.Object) bool {
	flag := l.objects.Scope.Leaves(row, object.GetNamespace())
	if flag == "" {
		return false
	}
	f := about(catalog.RefOf(row.Kind, object))
	f.Severity, f.Code, f.Field = SeverityNote, CodeNotSelected, "metadata.namespace"
	f.Message = fmt.Sprintf("the operator does not watch %ss in namespace %s (%s)", row.Kind, object.GetNamespace(), flag)
	l.add(f, "")
	return true
}

// unused reports an object that no workload selects or refers to by name.
func (l *linter) unused(row *catalog.Row, object catalog.Object, all []selector) {
	namespace, _ := l.objects.NamespaceLabels(object.GetNamespace())
	subject := selection.Subject{
		Kind: row.Kind, Namespace: object.GetNamespace(), Labels: object.GetLabels(),
		NamespaceLabels: namespace, NamespaceUnknown: l.objects.NamespaceUnknown(object.GetNamespace()),
	}
	if l.unwatched(row, object) || !l.lonely && l.meantByName(object, all) {
		return
	}
	n := notSelected{linter: l, row: row, object: object, subject: subject, said: notSelectedBy}
	n.finding = Finding{Severity: SeverityNote, Code: CodeNotSelected, Kind: row.Kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	answers := map[string]selection.Answer{} // by key: workloads often have equal selectors
	for _, s := range all {
		answer, known := answers[s.key]
		if !known {
			if answer = s.rule.Explain(subject, row.Field); answer.Reason == selection.Selected || s.rule.Names(object.GetNamespace(), object.GetName()) {
				return
			}
			answers[s.key] = answer
		}
		unread, sure := l.unread(s.workload, answer)
		if !l.lonely && !sure && (unread != "" || l.isFaulty(s.workload, answer)) {
			return // the error is reported, once
		}
		if unread != "" && !sure {
			n.said = cannotTell
		}
		n.add(s, answer, unread)
	}
	n.report()
}

// notSelected collects the reasons why an object is not selected, by workload.
type notSelected struct {
	*linter
	row     *catalog.Row
	object  catalog.Object
	subject selection.Subject

	finding Finding
	said    string
	unknown string // what to do if labels of the namespace are unknown
	reasons []string
	more    int // number of workloads beyond mostReasons
}

// add adds the answer of one workload. unread is the result of [linter.unread] for it.
func (n *notSelected) add(s selector, answer selection.Answer, unread string) {
	if answer.Reason == selection.NamespaceUnknown {
		n.unknown = fmt.Sprintf("; add the Namespace to the manifests (kubectl get namespace %s -o yaml)", n.subject.Namespace)
	}
	if field := placeOfReason(answer); len(n.reasons) == 0 {
		n.finding.Field = field
	} else if field != n.finding.Field {
		n.finding.Field = ""
	}
	switch {
	case len(n.reasons) == mostReasons:
		n.more++
	case unread == "":
		why := n.why(n.finding, s, n.subject, n.object, answer)
		if second, is := s.rule.Besides(n.subject, n.row.Field); is && answer.Reason == selection.NamespaceNotSelected {
			why += ", and " + n.why(n.finding, s, n.subject, n.object, second)
		}
		n.reasons = append(n.reasons, fmt.Sprintf("%s: %s", s.workload, why))
	default:
		n.reasons = append(n.reasons, fmt.Sprintf("%s: %s %s", s.workload, n.placed(n.finding, s, answer), unread))
	}
}

// report reports the reasons, unless no workload has valid selectors.
func (n *notSelected) report() {
	if len(n.reasons) == 0 {
		return
	}
	if n.unknown != "" {
		n.said = cannotTell
	}
	if n.more > 0 {
		n.reasons = append(n.reasons, fmt.Sprintf("%d more workloads", n.more))
	}
	n.finding.Message = n.said + strings.Join(n.reasons, "; ") + n.unknown
	n.linter.add(n.finding, "")
}

// mostReasons is the maximum number of workloads that a finding lists.
const mostReasons = 4

// placeOfReason returns the field of the object because of which it is not selected.
func placeOfReason(a selection.Answer) string {
	switch {
	case a.Reason == selection.NamespaceNotSelected, a.Reason == selection.NamespaceUnknown:
		return "metadata.namespace"
	case a.Reason != selection.LabelsNotSelected:
		return ""
	case len(a.Misses) == 1 && a.Misses[0].Has():
		return fmt.Sprintf("metadata.labels[%q]", a.Misses[0].Label)
	}
	return "metadata.labels"
}

// why returns the reason of an answer, with the places of the fields involved and advice.
func (l *linter) why(f Finding, s selector, of selection.Subject, object catalog.Object, a selection.Answer) string {
	where := l.placed(f, s, a)
	if len(a.Misses) == 0 {
		text := strings.Replace(a.Message, a.Selector, where, 1)
		if a.Reason == selection.NamespaceNotSelected {
			text = fmt.Sprintf("it is in namespace %s, and %s", of.Namespace, text)
			if f.Field == "metadata.namespace" && l.noNamespace(f) {
				text = "metadata.namespace is not set, which counts as default; " + strings.TrimPrefix(text, "it is in namespace default, and ")
			}
		}
		return text
	}
	var misses []string
	for _, m := range a.Misses {
		switch {
		case a.Reason == selection.NamespaceUnknown:
			misses = append(misses, m.Requirement)
		case a.Reason == selection.NamespaceNotSelected && !m.Has():
			misses = append(misses, fmt.Sprintf("%s, but namespace %s%s has no label %s%s", m.Requirement, of.Namespace, l.reference(f, namespaceRef(of.Namespace), "metadata.labels"), m.Label, NamespaceRemedy(of.Namespace, m)))
		case a.Reason == selection.NamespaceNotSelected:
			misses = append(misses, fmt.Sprintf("%s, but namespace %s%s has %s=%q%s", m.Requirement, of.Namespace, l.reference(f, namespaceRef(of.Namespace), fmt.Sprintf("metadata.labels[%q]", m.Label)), m.Label, m.Value, NamespaceRemedy(of.Namespace, m)))
		case !m.Has():
			misses = append(misses, fmt.Sprintf("%s, but metadata.labels has no %s: %s", m.Requirement, m.Label, MissingLabel(object, m.Label)))
		default:
			misses = append(misses, fmt.Sprintf("%s, but the label is %q", m.Requirement, m.Value))
		}
	}
	text := where + " requires " + strings.Join(misses, " and ")
	if a.Reason == selection.NamespaceUnknown {
		text = fmt.Sprintf("namespace %s is not among the manifests, so its labels are not known; %s", of.Namespace, text)
	}
	return text
}

// NamespaceRemedy returns what to change so that a selector of namespaces selects one, as the end of a sentence; empty
// if that depends on what the label means.
func NamespaceRemedy(namespace string, m selection.Miss) string {
	switch {
	case m.Label == corev1.LabelMetadataName:
		return fmt.Sprintf(": to select it too write matchExpressions: [{key: %s, operator: In, values: [%s, …]}], or {} for all", corev1.LabelMetadataName, namespace)
	case m.Requirement == m.Label+"="+namespace:
		return fmt.Sprintf(": label the namespace, or write %s=%s, which every namespace has", corev1.LabelMetadataName, namespace)
	}
	return ""
}

// placed returns the selector that decided, with its place.
func (l *linter) placed(f Finding, s selector, a selection.Answer) string {
	return a.Selector + l.reference(f, s.workload.Ref(), a.Selector)
}

// namespaceRef returns the reference to a Namespace.
func namespaceRef(name string) catalog.Ref { return catalog.Ref{Kind: "Namespace", Name: name} }

// reference returns the place of a field of another object, " (prometheus.yaml:12)"; empty if
// that object was not read.
func (l *linter) reference(from Finding, of catalog.Ref, field string) string {
	at := about(of)
	at.Field = field
	if l.placeOf(at).File == "" {
		return ""
	}
	file, line := l.locate(at)
	switch {
	case line == 0:
		return " (" + file + ")"
	case file == l.placeOf(from).File && !l.lonely:
		return fmt.Sprintf(" (line %d)", line)
	}
	return fmt.Sprintf(" (%s:%d)", file, line)
}

// noNamespace reports whether the manifest does not set the namespace.
func (l *linter) noNamespace(f Finding) bool {
	t := l.tree(l.placeOf(f))
	return t.root != nil && find(t.root, []string{"metadata", "namespace"}) == nil
}
