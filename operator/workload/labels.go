package workload

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Overlay merges maps into a new one; later ones take precedence.
func Overlay(layers ...map[string]string) map[string]string {
	out := make(map[string]string)
	for _, l := range layers {
		maps.Copy(out, l)
	}
	return out
}

// nilIfEmpty prevents empty maps in generated objects.
func nilIfEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// own is the label by which the operator selects its objects, and which nothing else may override.
var own = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}

var managedBy = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy, wellknown.LabelAppManagedBy: wellknown.ManagedBy}

// ObjectMeta returns the metadata of a Secret or ConfigMap of the workload.
func (b *Base) ObjectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       b.Meta.Namespace,
		Labels:          Overlay(managedBy, b.Config.Labels, own),
		Annotations:     nilIfEmpty(Overlay(b.Config.Annotations)),
		OwnerReferences: []metav1.OwnerReference{b.controllerReference()},
	}
}

// RuleConfigMapMeta returns the metadata of a rule ConfigMap. The operator's --labels
// cannot override the labels by which it selects these ConfigMaps.
func (b *Base) RuleConfigMapMeta(name string) metav1.ObjectMeta {
	meta := b.ObjectMeta(name)
	meta.Labels = Overlay(meta.Labels, managedBy, map[string]string{b.Kind.RuleLabel: b.Meta.Name})
	return meta
}

// WorkloadMeta returns the metadata of a StatefulSet or DaemonSet. Only these get the
// labels and annotations of the user's object.
//
// The labels by which the operator selects these objects must be applied last: without them it would not see the object
// that it has just written.
func (b *Base) WorkloadMeta(name string, match map[string]string, hash string) metav1.ObjectMeta {
	annotations := Overlay(b.Meta.Annotations, b.Config.Annotations)
	if hash != "" {
		annotations[wellknown.AnnotationInputHash] = hash
	}
	// Copied kubectl annotations would make "kubectl apply --prune" delete the object.
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, wellknown.KubectlPrefix) })
	last := Overlay(own)
	if b.Kind.Mode != "" {
		last[wellknown.LabelMode] = b.Kind.Mode
	} else { // see [Kind.StatefulSets]
		last[wellknown.LabelAppManagedBy], last[wellknown.LabelAppName] = wellknown.ManagedBy, b.Kind.AppName
	}
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       b.Meta.Namespace,
		Labels:          Overlay(managedBy, b.Meta.Labels, match, last),
		Annotations:     nilIfEmpty(annotations),
		OwnerReferences: []metav1.OwnerReference{b.controllerReference()},
	}
}

// PlainReference returns the owner reference for objects that several workloads share.
func (b *Base) PlainReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: b.Kind.GroupVersion().String(),
		Kind:       b.Kind.Row.Kind,
		Name:       b.Meta.Name,
		UID:        b.Meta.UID,
	}
}

// controllerReference returns the owner reference for objects of this workload alone.
func (b *Base) controllerReference() metav1.OwnerReference {
	ref := b.PlainReference()
	ref.Controller = new(true)
	ref.BlockOwnerDeletion = new(true)
	return ref
}

// Owns reports whether the owner references of an object include this workload.
func (b *Base) Owns(obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == b.Meta.UID })
}

// Identity returns the metadata that identifies an object of the workload for removal.
func (b *Base) Identity(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: b.Meta.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{b.controllerReference()},
	}
}

// SelectorLabels returns the labels that select the workload's pods, including all
// shards, without the operator's own labels. They are used for status.selector and to
// check a custom Service.
func (b *Base) SelectorLabels() map[string]string {
	labels := map[string]string{
		wellknown.LabelAppManagedBy: wellknown.ManagedBy,
		wellknown.LabelAppName:      b.Kind.AppName,
		wellknown.LabelAppInstance:  b.Meta.Name,
	}
	for _, l := range b.Kind.NameLabels {
		labels[l] = b.Meta.Name
	}
	return labels
}
