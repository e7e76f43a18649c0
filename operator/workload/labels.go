package workload

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels of generated objects.
const (
	LabelManagedBy    = "managed-by"
	LabelAppManagedBy = "app.kubernetes.io/managed-by"
	LabelAppName      = "app.kubernetes.io/name"
	LabelAppInstance  = "app.kubernetes.io/instance"
	LabelAppVersion   = "app.kubernetes.io/version"
	LabelShard        = "operator.prometheus.io/shard"
	LabelOwnerName    = "operator.prometheus.io/name"
	LabelMode         = "operator.prometheus.io/mode"
	LabelPrometheus   = "prometheus"          // servers only
	LabelRuleOwner    = "prometheus-name"     // rule ConfigMaps
	LabelOperated     = "operated-prometheus" // governing Services

	// ManagedBy is the value of LabelManagedBy and LabelAppManagedBy.
	ManagedBy = "prometheus-operator"
)

// Annotations of generated objects.
const (
	AnnotationInputHash        = "prometheus-operator-input-hash"
	AnnotationDeletionDeadline = "operator.prometheus.io/deletion-deadline"
	AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"

	kubectlPrefix = "kubectl.kubernetes.io/"
)

// overlay merges maps into a new one; later ones win.
func overlay(layers ...map[string]string) map[string]string {
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

var managedBy = map[string]string{LabelManagedBy: ManagedBy, LabelAppManagedBy: ManagedBy}

// objectMeta is the metadata of a Secret or ConfigMap of the owner.
func (o *Owner) objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       o.meta.Namespace,
		Labels:          overlay(managedBy, o.cfg.Labels),
		Annotations:     nilIfEmpty(overlay(o.cfg.Annotations)),
		OwnerReferences: []metav1.OwnerReference{o.controllerReference()},
	}
}

// workloadMeta is the metadata of a StatefulSet or DaemonSet. The owner's own
// labels and annotations reach only these objects.
//
// The label managed-by is applied last, on purpose: without it the operator
// would not see the object it has just written.
func (o *Owner) workloadMeta(name string, match map[string]string, hash string) metav1.ObjectMeta {
	annotations := overlay(o.meta.Annotations, o.cfg.Annotations)
	if hash != "" {
		annotations[AnnotationInputHash] = hash
	}
	// Copied kubectl annotations would make "kubectl apply --prune" delete the
	// object.
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, kubectlPrefix) })
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: o.meta.Namespace,
		Labels: overlay(
			managedBy, o.meta.Labels, map[string]string{LabelMode: o.kind.mode}, match,
			map[string]string{LabelManagedBy: ManagedBy},
		),
		Annotations:     nilIfEmpty(annotations),
		OwnerReferences: []metav1.OwnerReference{o.controllerReference()},
	}
}

// plainReference is the owner reference of objects that several owners share.
func (o *Owner) plainReference() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: o.kind.apiVersion,
		Kind:       o.kind.name,
		Name:       o.meta.Name,
		UID:        o.meta.UID,
	}
}

// Owns reports whether an object is one of this owner, by its owner references.
func (o *Owner) Owns(obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.meta.UID })
}

func (o *Owner) controllerReference() metav1.OwnerReference {
	ref := o.plainReference()
	ref.Controller = new(true)
	ref.BlockOwnerDeletion = new(true)
	return ref
}

// SelectorLabels are the labels that find the owner's pods in all shards,
// before the operator's own labels: status.selector and the check of a custom
// Service use them.
func (o *Owner) SelectorLabels() map[string]string {
	labels := map[string]string{
		LabelAppManagedBy: ManagedBy,
		LabelAppName:      o.kind.appName,
		LabelAppInstance:  o.meta.Name,
		LabelOwnerName:    o.meta.Name,
	}
	if o.server != nil {
		labels[LabelPrometheus] = o.meta.Name
	}
	return labels
}

// matchLabels is spec.selector.matchLabels of one shard. shard is empty for a
// DaemonSet. The version is never part of it: a selector cannot change.
func (o *Owner) matchLabels(shard string) map[string]string {
	labels := o.SelectorLabels()
	if shard != "" {
		labels[LabelShard] = shard
	}
	return overlay(labels, o.cfg.Labels)
}

// podMeta is the metadata of the pod template.
func (o *Owner) podMeta(match map[string]string) metav1.ObjectMeta {
	labels := map[string]string{LabelAppVersion: o.version.String()}
	annotations := map[string]string{AnnotationDefaultContainer: containerPrometheus}
	if pm := o.common.PodMetadata; pm != nil {
		maps.Copy(labels, pm.Labels)
		maps.Copy(annotations, pm.Annotations)
	}
	return metav1.ObjectMeta{Labels: overlay(labels, match), Annotations: annotations}
}
