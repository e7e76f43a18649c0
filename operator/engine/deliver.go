package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

// delivered is the content that the pods of a workload should have after its last reconciliation.
type delivered struct {
	hash      string          // value of the pods' annotation; empty before the first reconciliation
	want      delivery.Wanted // content that should be on their disks
	reloaders delivery.Pod    // how to query them, without address
	version   string          // identifies all of the above
}

// next returns the state after a reconciliation that started at began. The hash does not cover the
// paths of rules or how pods are queried, so these may change alone.
func (d delivered) next(plan *Plan, reloaders delivery.Pod, began time.Time, written bool) delivered {
	out := delivered{hash: plan.Hash, want: d.want, reloaders: reloaders}
	if d.hash == "" || !reflect.DeepEqual(plan.Delivered, d.want.Content) {
		out.want = delivery.Wanted{Content: plan.Delivered, Since: began, Before: !written}
	}
	sum := sha256.Sum256(fmt.Append(nil, out.hash, out.want.Content, out.reloaders))
	out.version = hex.EncodeToString(sum[:])
	return out
}

func (c *Controller) delivered(key types.NamespacedName) delivered {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.memory[key]; s != nil {
		return s.delivered
	}
	return delivered{}
}

func (c *Controller) deliveredHash(key types.NamespacedName) string { return c.delivered(key).hash }

// deliver schedules a patch of a pod with its wanted hash. Terminating pods are skipped.
func (c *Controller) deliver(key types.NamespacedName, pod *corev1.Pod) {
	hash := c.deliveredHash(key)
	if !c.opts.InstantDelivery() || hash == "" || pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" {
		return
	}
	c.nudger.Deliver(catalog.KeyOf(pod), hash)
}

// watchPod schedules requests to a pod for the outcome of the configuration written last.
func (c *Controller) watchPod(key types.NamespacedName, pod *corev1.Pod) {
	if d := c.delivered(key); d.hash != "" && started(pod) {
		c.watcher.Watch(catalog.KeyOf(pod), delivery.Mark{Hash: d.hash, Version: d.version, UID: pod.UID, Containers: containersOf(pod)})
	}
}

// started reports whether the containers of a pod may run.
func started(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "" && pod.DeletionTimestamp == nil
}

// containersOf returns a hash that changes when a container starts, restarts, becomes ready or stops.
func containersOf(pod *corev1.Pod) string {
	sum := sha256.New()
	fmt.Fprintln(sum, pod.Status.PodIP)
	for _, s := range pod.Status.ContainerStatuses {
		fmt.Fprintln(sum, s.Name, s.RestartCount, s.Ready, s.Started != nil && *s.Started)
		if s.State.Running != nil {
			fmt.Fprintln(sum, s.State.Running.StartedAt.Unix())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

// forgetPod drops the state of a deleted pod.
func (c *Controller) forgetPod(pod *corev1.Pod) {
	if key, ours := c.kind.workloadOfPod(pod); ours {
		c.timeline.ForgetPod(key, catalog.KeyOf(pod))
	}
	c.nudger.Forget(catalog.KeyOf(pod))
	c.watcher.Forget(catalog.KeyOf(pod))
}

// queryPod queries a pod for the outcome of its workload's last reconciliation. It returns an empty
// finding if the pod is gone or a later reconciliation has changed the content, after which the pod
// is marked again.
func (c *Controller) queryPod(ctx context.Context, key types.NamespacedName, m delivery.Mark, limit time.Duration) (delivery.Finding, bool) {
	pod, ok := c.stores.pods.Get(key.Namespace, key.Name)
	if !ok || pod.Status.PodIP == "" {
		return delivery.Finding{}, true
	}
	workload := types.NamespacedName{Namespace: key.Namespace, Name: pod.Labels[c.kind.nameLabel()]}
	d := c.delivered(workload)
	if d.version != m.Version || len(d.reloaders.Ports) == 0 {
		return delivery.Finding{}, true
	}
	ask := d.reloaders
	ask.IP = pod.Status.PodIP
	f, inTime := delivery.Query(ctx, ask, d.want, limit)
	c.confirm(workload, key, d.hash, f)
	return f, inTime
}

// Loaded returns the configuration that a pod of a workload runs, according to its last response.
func (c *Controller) Loaded(pod types.NamespacedName) delivery.Loaded { return c.watcher.Loaded(pod) }

// podSettled requests a status update of a pod's workload.
func (c *Controller) podSettled(key types.NamespacedName) {
	if pod, ok := c.stores.pods.Get(key.Namespace, key.Name); ok {
		if w, ours := c.kind.workloadOfPod(pod); ours {
			c.loop.enqueueStatus(w)
		}
	}
}
