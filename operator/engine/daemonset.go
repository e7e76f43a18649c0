package engine

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// reasonNoDaemonSet is a reason of the condition Available.
const reasonNoDaemonSet = "DaemonSetNotFound" // it does not exist

// Nodes is the observed state of a workload that runs on every node.
type Nodes struct {
	Key       string            // "namespace/name" of the DaemonSet
	DaemonSet *appsv1.DaemonSet // nil if it does not exist
	Pods      []*corev1.Pod     // pods that it owns, by name
}

// count counts the pods as shard 0. Only the DaemonSet has the number of pods of the latest revision.
func (n Nodes) count() v1.ShardStatus {
	out := v1.ShardStatus{ShardID: "0", Replicas: int32(len(n.Pods))}
	for _, p := range n.Pods {
		if PodReady(p) {
			out.AvailableReplicas++
		}
	}
	if n.counted() {
		out.UpdatedReplicas = min(out.Replicas, n.DaemonSet.Status.UpdatedNumberScheduled)
	}
	out.UnavailableReplicas = out.Replicas - out.AvailableReplicas
	return out
}

// counted reports whether the counts in the DaemonSet's status reflect its current spec.
func (n Nodes) counted() bool {
	return n.DaemonSet != nil && n.DaemonSet.Status.ObservedGeneration >= n.DaemonSet.Generation
}

func (n Nodes) readiness(ready int32) readiness {
	switch {
	case n.DaemonSet == nil:
		return readiness{v1.ConditionFalse, reasonNoDaemonSet, []string{"daemonset " + n.Key + " not found"}}
	case n.counted() && ready >= n.DaemonSet.Status.DesiredNumberScheduled:
		return readiness{status: v1.ConditionTrue}
	}
	v := notReady(n.Pods, ready, "")
	if n.DaemonSet.DeletionTimestamp != nil {
		v.lines = append(v.lines, "daemonset "+n.Key+" is being deleted, and is recreated once it is gone")
	}
	return v
}
