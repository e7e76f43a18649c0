package selection

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// NamespaceUnknown means that the labels of the object's Namespace are not known, and
// that they decide.
const NamespaceUnknown Reason = "labels of the namespace are not known"

// Subject is an object of which somebody asks why it is not selected.
type Subject struct {
	Kind, Namespace string
	Labels          labels.Set
	NamespaceLabels labels.Set // as far as they are known
	// NamespaceUnknown says that the Namespace was not seen: it may have more labels.
	NamespaceUnknown bool
}

// Answer says why an object is not selected.
type Answer struct {
	Reason Reason // [Selected] when it is
	// Selector is the field that decided: "spec.podMonitorNamespaceSelector".
	Selector string
	Message  string // for people
	Misses   []Miss // what the selector requires in vain, or what of it cannot be known
}

// Ask is Why for people. field names the pair of selectors: "podMonitor".
func (r Rule) Ask(s Subject, field string) Answer {
	objects, namespaces := "spec."+field+"Selector", "spec."+field+"NamespaceSelector"
	labelsDiffer := Answer{LabelsNotSelected, objects, fmt.Sprintf("%s does not match the labels of the %s", objects, s.Kind), r.LabelMisses(s.Labels)}
	unknown := s.NamespaceUnknown && r.open(s.Namespace)
	switch reason := r.Why(s.Namespace, s.NamespaceLabels, s.Labels); {
	case reason == NoSelector:
		return Answer{reason, objects, fmt.Sprintf("%s is not set, so it selects no %s ({} selects all)", objects, s.Kind), nil}
	case unknown && !r.Labels(s.Labels):
		return labelsDiffer
	case unknown:
		return Answer{NamespaceUnknown, namespaces, fmt.Sprintf("the labels of namespace %s are not known, and %s decides by them", s.Namespace, namespaces), r.undecided(s.NamespaceLabels)}
	case reason == NamespaceNotSelected && r.OwnNamespaceOnly():
		return Answer{reason, namespaces, fmt.Sprintf("%s is not set, so it selects namespace %s only ({} selects all)", namespaces, r.own), nil}
	case reason == NamespaceNotSelected:
		return Answer{reason, namespaces, fmt.Sprintf("%s does not match the labels of namespace %s", namespaces, s.Namespace), r.NamespaceMisses(s.NamespaceLabels)}
	case reason == LabelsNotSelected:
		return labelsDiffer
	}
	return Answer{}
}

// Undecided reports whether it is not known whether the rule selects an object of a Namespace of
// which only the name is known.
func (r Rule) Undecided(namespace string, objLabels labels.Set) bool {
	return r.Labels(objLabels) && r.open(namespace)
}

// open reports whether labels of a Namespace that nobody has seen decide: its name, which
// every Namespace has as a label, does not exclude it.
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

// undecided are the requirements on labels that are not known.
func (r Rule) undecided(known labels.Set) (out []Miss) {
	requirements, _ := r.namespaces.Requirements()
	for _, q := range requirements {
		if !known.Has(q.Key()) {
			out = append(out, Miss{Requirement: q.String(), Label: q.Key()})
		}
	}
	return out
}

// Assume adds the labels to those of a Namespace that was not seen which the rule requires
// of it and which are not there, with the first value that it allows.
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
