// Package selection answers which configuration objects belong to an owner,
// which do not, and why.
//
// An owner (a Prometheus, say) selects each kind of object with two label
// selectors: one for the labels of the object, one for the labels of the
// object's Namespace. [Parse] turns them into a [Rule], which is cheap to ask;
// an [Index] holds the rules of all owners and tells which owners an event is
// about, so that a change reaches those and no others.
package selection

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Reason says why an object is not selected; empty when it is.
type Reason string

const (
	// Selected is the reason of an object that belongs to the owner.
	Selected Reason = ""
	// NoSelector means that the owner selects no object of this kind.
	NoSelector Reason = "selector is not set"
	// NamespaceNotSelected means that the Namespace's labels do not match, or
	// that it is another one and the owner selects its own only.
	NamespaceNotSelected Reason = "namespace is not selected"
	// LabelsNotSelected means that the object's labels do not match.
	LabelsNotSelected Reason = "labels are not selected"
)

// Rule is one parsed pair of selectors. The zero value selects nothing.
type Rule struct {
	own        string
	namespaces labels.Selector // nil: the owner's own namespace
	objects    labels.Selector // nil: nothing
	named      []types.NamespacedName
}

// Naming returns the rule of an owner that also names objects. It uses them in another
// way: they are not selected, whatever their labels are, and their changes concern it.
func (r Rule) Naming(objects ...types.NamespacedName) Rule {
	r.named = objects
	return r
}

// Names reports whether the owner names an object.
func (r Rule) Names(namespace, name string) bool {
	return slices.Contains(r.named, types.NamespacedName{Namespace: namespace, Name: name})
}

// Parse reads the selectors as the API has them: an absent object selector
// selects nothing, an empty one everything; an absent namespace selector means
// the owner's own namespace, an empty one every namespace.
//
// Errors name the field after the given prefix, for example
// "spec.serviceMonitorNamespaceSelector".
func Parse(own, field string, namespaces, objects *metav1.LabelSelector) (Rule, error) {
	r := Rule{own: own}
	var err error
	if objects != nil {
		if r.objects, err = parse(objects); err != nil {
			return Rule{}, fmt.Errorf("spec.%sSelector: %w", field, err)
		}
	}
	if namespaces != nil {
		if r.namespaces, err = parse(namespaces); err != nil {
			return Rule{}, fmt.Errorf("spec.%sNamespaceSelector: %w", field, err)
		}
	}
	return r, nil
}

// Empty reports whether the rule can never select anything.
func (r Rule) Empty() bool { return r.objects == nil }

// OwnNamespaceOnly reports whether only objects beside the owner can be selected.
func (r Rule) OwnNamespaceOnly() bool { return r.namespaces == nil }

// Namespace reports whether objects of the namespace can be selected.
func (r Rule) Namespace(name string, nsLabels labels.Set) bool {
	if r.namespaces == nil {
		return name == r.own
	}
	return r.namespaces.Matches(nsLabels)
}

// Labels reports whether the object's labels match.
func (r Rule) Labels(objLabels labels.Set) bool {
	return r.objects != nil && r.objects.Matches(objLabels)
}

// Exact is a label that every selected object has, with its value, so that others need not be
// looked at; ok is false when there is none.
func (r Rule) Exact() (name, value string, ok bool) {
	if r.objects == nil {
		return "", "", false
	}
	requirements, _ := r.objects.Requirements()
	for _, q := range requirements {
		if value, exact := r.objects.RequiresExactMatch(q.Key()); exact {
			return q.Key(), value, true
		}
	}
	return "", "", false
}

// Why returns [Selected] or the first reason against the object.
func (r Rule) Why(namespace string, nsLabels, objLabels labels.Set) Reason {
	switch {
	case r.objects == nil:
		return NoSelector
	case !r.Namespace(namespace, nsLabels):
		return NamespaceNotSelected
	case !r.Labels(objLabels):
		return LabelsNotSelected
	}
	return Selected
}
