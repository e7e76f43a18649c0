package engine

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// podChanged refreshes the status of the pod's workload and notifies a new pod of its configuration.
func (c *Controller) podChanged(e informer.Event[*corev1.Pod]) {
	pod := e.Object()
	if e.Action == "delete" || e.Action == "update" && e.Before.UID != e.After.UID {
		c.forgetPod(pod)
	}
	key, ok := c.kind.workloadOfPod(pod)
	if !ok && e.Action == "update" {
		key, ok = c.kind.workloadOfPod(e.Before)
	}
	if !ok {
		return
	}
	c.changed(AboutPods, c.kind.Kind, key)
	w, ok := c.stores.workloads.get(key.Namespace, key.Name)
	if !ok && e.Action != "delete" && rollout.Orphan(pod) {
		c.loop.enqueue(key) // see abandoned
	}
	if !ok || !c.manages(w) {
		return
	}
	c.loop.enqueueStatus(key)
	if c.awaitsPods(key) {
		c.loop.enqueue(key)
	}
	if _, _, ok := rollout.SetOf(pod); ok && (rollout.Abandoned(pod) || e.Action != "add" && !same(e)) {
		c.wakeForPods(key)
	}
	if e.Action != "delete" && !delivery.Carries(pod.Annotations[delivery.Annotation], c.deliveredHash(key)) {
		c.deliver(key, pod)
	}
	if e.Action != "delete" {
		c.watchPod(key, pod)
	}
}

// same reports whether an event is only a resync.
func same(e informer.Event[*corev1.Pod]) bool {
	return e.Action == "update" && e.Before.ResourceVersion == e.After.ResourceVersion
}

// wakeForPods requests a reconciliation if pods must be adjusted to their StatefulSets.
func (c *Controller) wakeForPods(key types.NamespacedName) {
	w, ok := c.stores.workloads.get(key.Namespace, key.Name)
	if ok && c.manages(w) && !w.GetWorkloadFields().Paused && len(c.leftovers(w, c.podsOf(key))) > 0 {
		c.loop.enqueue(key)
	}
}

// workloadOfPod returns the workload of this kind that a pod belongs to. Workloads of several kinds
// may have the same name, but their StatefulSets do not. A pod without its StatefulSet is
// identified by its own name.
func (k *Kind) workloadOfPod(pod *corev1.Pod) (key types.NamespacedName, ok bool) {
	ours := rollout.Orphan(pod) && strings.HasPrefix(pod.Name, k.prefix())
	for _, ref := range pod.OwnerReferences {
		ours = ours || strings.HasPrefix(ref.Name, k.prefix())
	}
	name := pod.Labels[k.nameLabel()]
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, ours && name != ""
}

// podsOf returns the pods of a workload.
func (c *Controller) podsOf(key types.NamespacedName) []*corev1.Pod {
	all := c.stores.pods.List(key.Namespace, informer.Labelled(c.kind.nameLabel(), key.Name))
	return slices.DeleteFunc(all, func(pod *corev1.Pod) bool {
		_, ours := c.kind.workloadOfPod(pod)
		return !ours
	})
}
