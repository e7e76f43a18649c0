package selection

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// NamespaceUnknown means that the selection depends on labels of the object's Namespace that are not known.
const NamespaceUnknown Reason = "labels of the namespace are not known"

// Subject is an object to check against a rule.
type Subject struct {
	Kind, Namespace string
	Labels          labels.Set
	NamespaceLabels labels.Set // the known ones
	// NamespaceUnknown means that the Namespace was not read and may have more labels.
	NamespaceUnknown bool
}

// Answer is the reason why an object is not selected.
type Answer struct {
	Reason Reason // [Selected] if it is selected
	// Selector is the field that caused the result: "spec.podMonitorNamespaceSelector".
	Selector string
	Message  string // human-readable
	Misses   []Miss // requirements that are not met, or that depend on unknown labels
}

// Explain is like Why, with a human-readable message. field is the prefix of the two selector
// fields: "podMonitor".
func (r Rule) Explain(s Subject, field string) Answer {
	objects, namespaces := "spec."+field+"Selector", "spec."+field+"NamespaceSelector"
	labelsDiffer := r.labelsDiffer(s, objects)
	unknown := s.NamespaceUnknown && r.open(s.Namespace)
	switch reason := r.Why(s.Namespace, s.NamespaceLabels, s.Labels); {
	case reason == NoSelector && r.never != "":
		return Answer{reason, objects, r.never, nil}
	case reason == NoSelector:
		return Answer{reason, objects, fmt.Sprintf("%s is not set, so it selects no %s ({} selects all)", objects, s.Kind), nil}
	case unknown && !r.Labels(s.Labels):
		return labelsDiffer
	case unknown:
		return Answer{NamespaceUnknown, namespaces, fmt.Sprintf("the labels of namespace %s are not known, and %s decides by them", s.Namespace, namespaces), r.undecided(s.NamespaceLabels)}
	case reason == NamespaceNotSelected && r.OwnNamespaceOnly():
		return Answer{reason, namespaces, fmt.Sprintf("%s is not set, so it selects namespace %s only ({} selects all)", namespaces, r.own), nil}
	case reason == NamespaceNotSelected:
		return Answer{reason, namespaces, fmt.Sprintf("%s does not match the labels of namespace %s", namespaces, s.Namespace), r.namespaceMisses(s.NamespaceLabels)}
	case reason == LabelsNotSelected:
		return labelsDiffer
	}
	return Answer{}
}

func (r Rule) labelsDiffer(s Subject, selector string) Answer {
	return Answer{LabelsNotSelected, selector, fmt.Sprintf("%s does not match the labels of the %s", selector, s.Kind), r.labelMisses(s.Labels)}
}

// Besides returns the reason why an object would not be selected even if its namespace was. ok is false if its labels
// match. field is like in Explain.
func (r Rule) Besides(s Subject, field string) (second Answer, ok bool) {
	if r.Empty() || r.Labels(s.Labels) {
		return Answer{}, false
	}
	return r.labelsDiffer(s, "spec."+field+"Selector"), true
}

// Undecided reports whether the name of a Namespace alone does not decide if the rule selects an object in it.
func (r Rule) Undecided(namespace string, objLabels labels.Set) bool {
	return r.Labels(objLabels) && r.open(namespace)
}

// open reports whether the rule depends on labels of a Namespace that are not known, that is,
// whether the name label, which every Namespace has, does not exclude it.
func (r Rule) open(namespace string) bool {
	if r.namespaces == nil {
		return false
	}
	requirements, _ := r.namespaces.Requirements()
	decides := false
	for _, q := range requirements {
		if q.Key() != corev1.LabelMetadataName {
			decides = true
		} else if !q.Matches(labels.Set{corev1.LabelMetadataName: namespace}) {
			return false
		}
	}
	return decides
}

// undecided returns the requirements on labels that are not known.
func (r Rule) undecided(known labels.Set) (out []Miss) {
	requirements, _ := r.namespaces.Requirements()
	for _, q := range requirements {
		if !known.Has(q.Key()) {
			out = append(out, Miss{Requirement: q.String(), Label: q.Key()})
		}
	}
	return out
}

// Assume returns the known labels of a Namespace plus missing ones that the rule requires, each
// with the first allowed value.
func (r Rule) Assume(known labels.Set) labels.Set {
	out := labels.Set{}
	maps.Copy(out, known)
	if r.namespaces == nil {
		return out
	}
	requirements, _ := r.namespaces.Requirements()
	for _, q := range requirements {
		switch q.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			if !out.Has(q.Key()) {
				out[q.Key()] = slices.Min(q.ValuesUnsorted())
			}
		case selection.Exists:
			if !out.Has(q.Key()) {
				out[q.Key()] = ""
			}
		}
	}
	return out
}
