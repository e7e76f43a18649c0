package rollout

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// RepairPolicy says what the operator does about a stuck pod.
type RepairPolicy string

const (
	RepairNone   RepairPolicy = "none"   // nothing
	RepairEvict  RepairPolicy = "evict"  // evict it, if disruption budgets allow
	RepairDelete RepairPolicy = "delete" // delete it
)

// Stuck returns the pod that blocks a rollout, or nil: a pod of a
// revision that is neither where the rollout comes from nor where it goes to,
// and that is not ready. The StatefulSet controller waits for it forever.
//
// pods are those of the StatefulSet by ordinal; ready tells about one of them.
// Nothing is stuck while the controller has not seen the latest spec.
func Stuck(sts *appsv1.StatefulSet, pods []*corev1.Pod, ready func(*corev1.Pod) bool) *corev1.Pod {
	if sts.Generation != sts.Status.ObservedGeneration {
		return nil
	}
	for i := len(pods) - 1; i >= 0; i-- { // as a rollout does, from the highest ordinal down
		p := pods[i]
		revision := p.Labels[appsv1.ControllerRevisionHashLabelKey]
		if ready(p) || p.DeletionTimestamp != nil || revision == sts.Status.CurrentRevision || revision == sts.Status.UpdateRevision {
			continue
		}
		return p
	}
	return nil
}
