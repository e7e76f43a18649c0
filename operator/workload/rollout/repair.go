package rollout

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// RepairPolicy defines how the operator handles a stuck pod.
type RepairPolicy string

const (
	RepairNone   RepairPolicy = "none"   // do nothing
	RepairEvict  RepairPolicy = "evict"  // evict it if disruption budgets allow
	RepairDelete RepairPolicy = "delete" // delete it
)

// Stuck returns the pod that blocks a rollout, or nil: a pod that is not ready and whose
// revision is neither the current nor the update revision. The StatefulSet controller
// waits for it forever.
//
// pods are the pods of the StatefulSet by ordinal, and ready reports whether a pod is
// ready. No pod is stuck until the controller has observed the latest spec.
func Stuck(sts *appsv1.StatefulSet, pods []*corev1.Pod, ready func(*corev1.Pod) bool) *corev1.Pod {
	if sts.Generation != sts.Status.ObservedGeneration {
		return nil
	}
	for i := len(pods) - 1; i >= 0; i-- { // like a rollout, from the highest ordinal down
		p := pods[i]
		revision := p.Labels[appsv1.ControllerRevisionHashLabelKey]
		if ready(p) || p.DeletionTimestamp != nil || revision == sts.Status.CurrentRevision || revision == sts.Status.UpdateRevision {
			continue
		}
		return p
	}
	return nil
}
