// Package selection decides which configuration objects a workload selects, and why not the others.
//
// A workload (such as a Prometheus) selects each kind of object with two label selectors: one
// for the labels of the object, one for the labels of its Namespace. [Parse] turns them into
// a [Rule], which is cheap to evaluate. An [Index] holds the rules of all workloads and finds
// those that a watch event affects.
package selection

import (
	"crypto/sha256"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// Reason explains why an object is not selected; empty if it is selected.
type Reason string

const (
	// Selected is the reason of a selected object.
	Selected Reason = ""
	// NoSelector means that the workload selects no objects of this kind.
	NoSelector Reason = "selector is not set"
	// NamespaceNotSelected means that the labels of the Namespace do not match, or that the
	// workload selects only its own namespace and the object is in another.
	NamespaceNotSelected Reason = "namespace is not selected"
	// LabelsNotSelected means that the object's labels do not match.
	LabelsNotSelected Reason = "labels are not selected"
)

// Rule is one parsed pair of selectors. The zero value selects nothing.
type Rule struct {
	own        string
	namespaces labels.Selector // nil: the workload's own namespace
	objects    labels.Selector // nil: nothing
	named      []types.NamespacedName
	never      string // why the selectors cannot be set; empty if they can
}

// Never returns the rule of a workload whose selectors cannot be set, for the given reason.
func (r Rule) Never(why string) Rule {
	r.never = why
	return r
}

// Naming returns the rule of a workload that also names objects. These are not selected by
// labels, but their changes affect the workload.
func (r Rule) Naming(objects ...types.NamespacedName) Rule {
	r.named = objects
	return r
}

// Names reports whether the workload names an object.
func (r Rule) Names(namespace, name string) bool {
	return slices.Contains(r.named, types.NamespacedName{Namespace: namespace, Name: name})
}

// Named returns the objects that the workload names. The result must not be modified.
func (r Rule) Named() []types.NamespacedName { return r.named }

// Key identifies what the rule selects: rules with equal keys select the same objects, for the same reasons. It is short, so that callers
// may keep it, while a selector may have a megabyte.
func (r Rule) Key() string {
	key := sha256.New()
	if r.namespaces == nil || len(r.named) > 0 {
		fmt.Fprintf(key, "%s;", r.own)
	}
	for _, s := range []labels.Selector{r.namespaces, r.objects} {
		if s != nil {
			text := s.String()
			fmt.Fprintf(key, "%d:%s", len(text), text)
		}
		fmt.Fprint(key, ";")
	}
	for _, name := range r.named {
		fmt.Fprintf(key, "%s;", name)
	}
	fmt.Fprint(key, r.never)
	return string(key.Sum(nil))
}

// Parse parses selectors with the semantics of the API: a missing object selector selects
// nothing, an empty one everything; a missing namespace selector means the workload's own
// namespace, an empty one every namespace.
//
// Errors start with the name of the field, for example
// "spec.serviceMonitorNamespaceSelector".
func Parse(own, field string, namespaces, objects *metav1.LabelSelector) (Rule, error) {
	r := Rule{own: own}
	var all faults.List
	if objects != nil {
		var err error
		r.objects, err = parse(objects)
		all.Add("spec."+field+"Selector", err)
	}
	if namespaces != nil {
		var err error
		r.namespaces, err = parse(namespaces)
		all.Add("spec."+field+"NamespaceSelector", err)
	}
	if all.Any() {
		return Rule{}, all.Err()
	}
	return r, nil
}

// Empty reports whether the rule selects nothing.
func (r Rule) Empty() bool { return r.objects == nil }

// OwnNamespaceOnly reports whether the rule selects only objects in the workload's namespace.
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

// Takes reports whether an object in a selected namespace is selected. Objects that are being deleted or
// that the workload names are not.
func (r Rule) Takes(o metav1.Object) bool {
	return r.Labels(o.GetLabels()) && o.GetDeletionTimestamp() == nil && !r.Names(o.GetNamespace(), o.GetName())
}

// Own returns the workload's namespace, and whether the rule selects only objects in it.
func (r Rule) Own() (namespace string, only bool) { return r.own, r.OwnNamespaceOnly() }

// Exact returns a label and value that every selected object has, so that callers need only check objects with that
// label; ok is false if there is none.
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

// Why returns [Selected], or the first reason why the object is not selected.
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
