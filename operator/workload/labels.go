package workload

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Overlay merges maps into a new one; later ones win.
func Overlay(layers ...map[string]string) map[string]string {
	out := make(map[string]string)
	for _, l := range layers {
		maps.Copy(out, l)
	}
	return out
}

// nilIfEmpty keeps empty maps out of generated objects.
func nilIfEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

var managedBy = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy, wellknown.LabelAppManagedBy: wellknown.ManagedBy}

// ObjectMeta is the metadata of a Secret or ConfigMap of the workload.
func (b *Base) ObjectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       b.Meta.Namespace,
		Labels:          Overlay(managedBy, b.Config.Labels),
		Annotations:     nilIfEmpty(Overlay(b.Config.Annotations)),
		OwnerReferences: []metav1.OwnerReference{b.ControllerReference()},
	}
}

// RuleConfigMapMeta is the metadata of a ConfigMap of rules. The labels by which the
// operator finds it cannot be changed by its --labels.
func (b *Base) RuleConfigMapMeta(name string) metav1.ObjectMeta {
	meta := b.ObjectMeta(name)
	meta.Labels = Overlay(meta.Labels, managedBy, map[string]string{b.Kind.RuleLabel: b.Meta.Name})
	return meta
}

// WorkloadMeta is the metadata of a StatefulSet or DaemonSet. The object's own
// labels and annotations reach only these.
//
// The label managed-by is applied last, on purpose: without it the operator
// would not see what it has just written.
func (b *Base) WorkloadMeta(name string, match map[string]string, hash string) metav1.ObjectMeta {
	annotations := Overlay(b.Meta.Annotations, b.Config.Annotations)
	if hash != "" {
		annotations[wellknown.AnnotationInputHash] = hash
	}
	// Copied kubectl annotations would make "kubectl apply --prune" delete the
	// object.
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, wellknown.KubectlPrefix) })
	labels := Overlay(managedBy, b.Meta.Labels)
	if b.Kind.Mode != "" {
		labels[wellknown.LabelMode] = b.Kind.Mode
	}
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       b.Meta.Namespace,
		Labels:          Overlay(labels, match, map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}),
		Annotations:     nilIfEmpty(annotations),
		OwnerReferences: []metav1.OwnerReference{b.ControllerReference()},
	}
}

// PlainReference is the owner reference of objects that several workloads share.
func (b *Base) PlainReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: b.Kind.GroupVersion().String(),
		Kind:       b.Kind.Row.Kind,
		Name:       b.Meta.Name,
		UID:        b.Meta.UID,
	}
}

// ControllerReference is the owner reference of objects of this workload alone.
func (b *Base) ControllerReference() metav1.OwnerReference {
	ref := b.PlainReference()
	ref.Controller = new(true)
	ref.BlockOwnerDeletion = new(true)
	return ref
}

// Owns reports whether an object is one of this workload, by its owner references.
func (b *Base) Owns(obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == b.Meta.UID })
}

// Identity is the metadata of an object of the workload that is to be removed.
func (b *Base) Identity(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: b.Meta.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{b.ControllerReference()},
	}
}

// SelectorLabels are the labels that find the workload's pods, all shards
// included, before the operator's own labels: status.selector and the check of a
// custom Service use them.
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
