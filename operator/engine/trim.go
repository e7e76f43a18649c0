package engine

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func trimNamespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels, DeletionTimestamp: n.DeletionTimestamp,
	}}
}

// trimRules keeps digests of rules, and nothing of a ConfigMap without an owner: the labels are public, so other clients
// may create any number of these.
func trimRules(m *corev1.ConfigMap) *corev1.ConfigMap {
	out := apply.DigestConfigMap(m)
	if len(m.OwnerReferences) == 0 {
		out.Data, out.BinaryData, out.Annotations = nil, client.DigestsOnly, nil
	}
	return out
}

// trimPod keeps the fields that status, delivery and rollouts need.
func trimPod(p *corev1.Pod) *corev1.Pod {
	spec := workload.TrimReloaders(&p.Spec)
	spec.NodeName, spec.Subdomain = p.Spec.NodeName, p.Spec.Subdomain
	spec.Volumes = append(spec.Volumes, claimed(p.Spec.Volumes)...)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Labels: p.Labels,
			Annotations: annotated(p.Annotations), OwnerReferences: p.OwnerReferences, DeletionTimestamp: p.DeletionTimestamp,
			CreationTimestamp: p.CreationTimestamp,
		},
		Spec: spec,
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, PodIP: p.Status.PodIP, Conditions: p.Status.Conditions,
			InitContainerStatuses: waiting(p.Status.InitContainerStatuses), ContainerStatuses: containers(p.Status.ContainerStatuses),
		},
	}
}

// annotated keeps the annotation that delivery reads.
func annotated(all map[string]string) map[string]string {
	value, ok := all[delivery.Annotation]
	if !ok {
		return nil
	}
	return map[string]string{delivery.Annotation: strings.Clone(value[:min(len(value), 256)])}
}

// claimed keeps the volumes that are claims.
func claimed(all []corev1.Volume) []corev1.Volume {
	var out []corev1.Volume
	for _, v := range all {
		if v.PersistentVolumeClaim != nil {
			out = append(out, v)
		}
	}
	return out
}

// waiting keeps the containers that wait for another reason than normal startup.
func waiting(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	return slices.DeleteFunc(containers(all), func(c corev1.ContainerStatus) bool { return c.State.Waiting == nil })
}

// containers keeps the state of containers: restarts, stopped containers, and waiting reasons
// except those of normal startup.
func containers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all {
		kept := corev1.ContainerStatus{Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount, Started: c.Started, State: c.State}
		if w := c.State.Waiting; w != nil && (w.Reason == "PodInitializing" || w.Reason == "ContainerCreating") {
			kept.State.Waiting = nil
		}
		if end := c.State.Terminated; end != nil {
			kept.State.Terminated = &corev1.ContainerStateTerminated{Reason: end.Reason}
		}
		out = append(out, kept)
	}
	return out
}

// trimClaim keeps the fields that matter for resizing.
func trimClaim(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion, Labels: c.Labels,
			DeletionTimestamp: c.DeletionTimestamp,
		},
		Spec:   corev1.PersistentVolumeClaimSpec{Resources: c.Spec.Resources},
		Status: corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase},
	}
}
