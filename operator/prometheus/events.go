package prometheus

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/rollout"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// ControllerIDAnnotation on an owner names the operator that is responsible for it.
const ControllerIDAnnotation = "operator.prometheus.io/controller-id"

// handleEvents connects the stores to the queue.
func (c *Controller) handleEvents() error {
	s := c.stores
	connects := []func() error{
		func() error { return s.owners.OnChange(c.ownerChanged) },
		func() error { return configChanged(c, s.services, v1.ServiceMonitorKind) },
		func() error { return configChanged(c, s.pods, v1.PodMonitorKind) },
		func() error { return configChanged(c, s.probes, v1.ProbeKind) },
		func() error { return s.connectScrapeConfigs(c) },
		func() error { return s.namespaces.OnChange(c.namespaceChanged) },
		func() error { return referenceChanged(c, s.secretRefs, assets.Secret) },
		func() error { return referenceChanged(c, s.configRefs, assets.ConfigMap) },
		func() error { return ownedChanged(c, s.ownSecrets, "Secret", c.writer.Secrets()) },
		func() error { return ownedChanged(c, s.ownServices, "Service", c.writer.Services()) },
		func() error { return s.statefulSets.OnChange(c.statefulSetChanged) },
		func() error { return s.runningPods.OnChange(c.podChanged) },
	}
	if s.claims != nil {
		connects = append(connects, func() error { return s.claims.OnChange(c.claimChanged) })
	}
	if s.daemonSets != nil {
		connects = append(connects, func() error { return s.daemonSets.OnChange(c.daemonSetChanged) })
	}
	if s.rules != nil {
		connects = append(connects,
			func() error { return configChanged(c, s.rules, v1.PrometheusRuleKind) },
			func() error { return ownedChanged(c, s.ownConfigs, "ConfigMap", c.writer.ConfigMaps()) },
			func() error {
				return s.ownConfigs.OnChange(func(e informer.Event[*corev1.ConfigMap]) {
					if e.Action == "delete" {
						s.texts.forget(keyOf(e.Before))
					}
				})
			})
	}
	for _, connect := range connects {
		if err := connect(); err != nil {
			return err
		}
	}
	return nil
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// mine reports whether this operator is responsible for an owner.
func (c *Controller) mine(o Owner) bool {
	return o.GetAnnotations()[ControllerIDAnnotation] == c.opts.ControllerID
}

func (c *Controller) trigger(by, action string, keys ...types.NamespacedName) {
	if len(keys) == 0 {
		return
	}
	c.metrics.Triggered(by, action)
	for _, key := range keys {
		c.loop.Enqueue(key)
	}
}

func (c *Controller) ownerChanged(e informer.Event[Owner]) {
	o := e.Object()
	key := o.Key()
	if c.servesOtherwise(e) {
		c.wakePeers(o)
	}
	if e.Action == "delete" || !c.mine(o) {
		c.index.Remove(key)
		if c.mine(o) || (e.Action == "update" && c.mine(e.Before)) {
			c.trigger(c.kind.Name, e.Action, key) // a pass forgets it
		}
		return
	}
	if e.Action == "update" && sameIntent(e.Before, e.After) {
		return
	}
	c.index.Set(key, lenientRules(o))
	c.trigger(c.kind.Name, e.Action, key)
}

// servesOtherwise reports whether an owner ceased to need something of the Service that
// it shares, or needs something else.
func (c *Controller) servesOtherwise(e informer.Event[Owner]) bool {
	if e.Action == "update" && e.Before.GetGeneration() != e.After.GetGeneration() {
		return !slices.Equal(e.Before.Workload(c.opts.Workload).ServicePorts(), e.After.Workload(c.opts.Workload).ServicePorts())
	}
	return e.Action == "delete"
}

// usesService reports whether the owner that a reference of the shared Service names
// uses it. Those of another operator stay in it for as long as that one likes.
func (c *Controller) usesService(namespace string, ref metav1.OwnerReference) (uses, known bool) {
	o, ok := c.stores.owners.Get(namespace, ref.Name)
	if !ok || o.GetUID() != ref.UID || ref.Kind != c.kind.Name {
		return false, false
	}
	return !c.mine(o) || o.Workload(c.opts.Workload).UsesGoverningService(), true
}

// wakePeers wakes the other owners of a namespace. It is not counted: users know no
// such trigger.
func (c *Controller) wakePeers(o Owner) {
	for _, peer := range c.stores.owners.In(o.GetNamespace()) {
		if peer.GetName() != o.GetName() && c.mine(peer) {
			c.loop.Enqueue(peer.Key())
		}
	}
}

// sameIntent reports whether two versions of an object ask for the same: status
// writes and resyncs do not count. An object that was deleted and made again
// while the watch was down arrives as an update with another UID.
func sameIntent(before, after metav1.Object) bool {
	return before.GetUID() == after.GetUID() && before.GetGeneration() == after.GetGeneration() &&
		maps.Equal(before.GetLabels(), after.GetLabels()) &&
		maps.Equal(before.GetAnnotations(), after.GetAnnotations()) &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp())
}

// configChanged wakes the owners that select the object, or did so before.
func configChanged[T informer.Object](c *Controller, store *informer.Store[T], kind string) error {
	return store.OnChange(func(e informer.Event[T]) {
		obj := e.Object()
		if e.Action == "update" && e.Before.GetUID() == e.After.GetUID() && e.Before.GetGeneration() == e.After.GetGeneration() &&
			maps.Equal(e.Before.GetLabels(), e.After.GetLabels()) &&
			e.Before.GetDeletionTimestamp().Equal(e.After.GetDeletionTimestamp()) {
			return
		}
		if e.Action == "delete" {
			c.forgetFragment(kind, keyOf(obj))
		}
		nsLabels, _ := c.stores.namespaceLabels(obj.GetNamespace())
		versions := []selection.Object{{Namespace: obj.GetNamespace(), NamespaceLabels: nsLabels, Labels: obj.GetLabels()}}
		if e.Action == "update" {
			versions = append(versions, selection.Object{
				Namespace: obj.GetNamespace(), NamespaceLabels: nsLabels, Labels: e.Before.GetLabels(),
			})
		}
		c.trigger(kind, e.Action, c.index.Owners(kind, versions...)...)
	})
}

func (c *Controller) namespaceChanged(e informer.Event[*corev1.Namespace]) {
	switch e.Action {
	case "update":
		c.trigger("Namespace", e.Action, c.index.NamespaceChanged(e.After.Name, e.Before.Labels, e.After.Labels)...)
	case "add":
		// Its objects may have been seen before the namespace itself.
		c.trigger("Namespace", e.Action, c.index.NamespaceAdded(e.After.Name, e.After.Labels)...)
	case "delete":
		// The deletions of its objects come by other watches: later ones no longer
		// find the labels by which owners select the namespace.
		c.trigger("Namespace", e.Action, c.index.NamespaceAdded(e.Before.Name, e.Before.Labels)...)
	}
}

// referenceChanged wakes the owners whose last reconciliation read the object.
func referenceChanged(c *Controller, store *informer.Store[*metav1.PartialObjectMetadata], kind assets.Kind) error {
	return store.OnChange(func(e informer.Event[*metav1.PartialObjectMetadata]) {
		obj := e.Object()
		ref := assets.Ref{Kind: kind, Namespace: obj.Namespace, Name: obj.Name}
		if e.Action == "delete" {
			c.assets.Forget(ref)
		}
		c.trigger(kind.String(), e.Action, c.referencing(ref)...)
	})
}

// ownedChanged wakes the owner of an object that another client changed or deleted.
func ownedChanged[T informer.Object](c *Controller, store *informer.Store[T], kind string, view *apply.View[T]) error {
	return store.OnChange(func(e informer.Event[T]) {
		obj := e.Object()
		if e.Action == "delete" {
			view.Forget(obj)
		}
		// A cache that is not kept by a watch may see our object first as others left it.
		if (e.Action == "add" && !view.Since(obj)) || (e.Action == "update" && view.Ours(obj)) {
			return
		}
		c.trigger(kind, e.Action, eventOwners(c, e)...)
	})
}

// eventOwners returns the owners of any version of an object that the event
// knows: somebody may have taken the reference away.
func eventOwners[T informer.Object](c *Controller, e informer.Event[T]) []types.NamespacedName {
	if e.Action != "update" {
		return c.ownersOf(e.Object())
	}
	return c.ownersOf(e.Before, e.After)
}

// ownersOf returns the owners named by the objects' owner references that this
// operator is responsible for, each once. They are found by name: the children
// of an owner that was made again still name its predecessor.
func (c *Controller) ownersOf(versions ...metav1.Object) []types.NamespacedName {
	var out []types.NamespacedName
	for _, obj := range versions {
		for _, ref := range obj.GetOwnerReferences() {
			if ref.Kind != c.kind.Name || !strings.HasPrefix(ref.APIVersion, v1.SchemeGroupVersion.Group+"/") {
				continue
			}
			o, ok := c.stores.owners.Get(obj.GetNamespace(), ref.Name)
			if ok && c.mine(o) && !slices.Contains(out, o.Key()) {
				out = append(out, o.Key())
			}
		}
	}
	return out
}

func (c *Controller) statefulSetChanged(e informer.Event[*appsv1.StatefulSet]) {
	if e.Action == "delete" {
		c.writer.StatefulSets().Forget(e.Before)
	}
	owners := eventOwners(c, e)
	for _, key := range owners {
		c.loop.EnqueueStatus(key)
		c.wakeForPods(key)
	}
	if e.Action == "delete" && len(owners) == 0 {
		c.loop.Enqueue(types.NamespacedName{Namespace: e.Before.Namespace, Name: e.Before.Labels[workload.LabelOwnerName]}) // see abandoned
	}
	if e.Action == "update" && (e.After.DeletionTimestamp != nil || sameIntent(e.Before, e.After) &&
		equality.Semantic.DeepEqual(e.Before.OwnerReferences, e.After.OwnerReferences)) {
		return
	}
	// Our own write is looked at once more on purpose: its input hash was made
	// from the spec before it.
	c.trigger("StatefulSet", e.Action, owners...)
}

// claimChanged wakes the owner of a claim of which something else is to be said, or
// that can be resized from now on.
func (c *Controller) claimChanged(e informer.Event[*corev1.PersistentVolumeClaim]) {
	if e.Action == "add" || e.Action == "update" && e.Before.Status.Phase == e.After.Status.Phase &&
		equality.Semantic.DeepEqual(e.Before.Spec, e.After.Spec) && e.Before.DeletionTimestamp.Equal(e.After.DeletionTimestamp) {
		return
	}
	claim := e.Object()
	o, ok := c.stores.owners.Get(claim.Namespace, claim.Labels[workload.LabelOwnerName])
	if ok && c.mine(o) {
		c.loop.Enqueue(o.Key())
	}
}

// daemonSetChanged is like statefulSetChanged; echoes of our own writes are ignored.
func (c *Controller) daemonSetChanged(e informer.Event[*appsv1.DaemonSet]) {
	if e.Action == "delete" {
		c.writer.ForgetDaemonSet(e.Before)
	}
	owners := eventOwners(c, e)
	for _, key := range owners {
		c.loop.EnqueueStatus(key)
	}
	if e.Action == "update" && (e.After.DeletionTimestamp != nil || c.writer.DaemonSets().Ours(e.After) || sameIntent(e.Before, e.After) &&
		equality.Semantic.DeepEqual(e.Before.OwnerReferences, e.After.OwnerReferences)) {
		return
	}
	for _, key := range owners {
		c.loop.Enqueue(key) // not counted: users know the triggers of StatefulSets only
	}
}

// podChanged refreshes the status of the pod's owner, and tells a new pod what
// it should run.
func (c *Controller) podChanged(e informer.Event[*corev1.Pod]) {
	pod := e.Object()
	if e.Action == "delete" || e.Action == "update" && e.Before.UID != e.After.UID {
		c.forgetPod(pod)
	}
	key, ok := c.kind.ownerOfPod(pod)
	if !ok && e.Action == "update" {
		key, ok = c.kind.ownerOfPod(e.Before)
	}
	if !ok {
		return
	}
	o, ok := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok && e.Action != "delete" && rollout.Orphan(pod) {
		c.loop.Enqueue(key) // see abandoned
	}
	if !ok || !c.mine(o) {
		return
	}
	c.loop.EnqueueStatus(key)
	if c.awaitsPods(key) {
		c.loop.Enqueue(key)
	}
	if _, _, ok := rollout.SetOf(pod); ok && (rollout.Orphan(pod) || e.Action != "add" && !same(e)) {
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

// wakeForPods asks for a reconciliation when pods must be adjusted to their
// StatefulSets.
func (c *Controller) wakeForPods(key types.NamespacedName) {
	if o, ok := c.stores.owners.Get(key.Namespace, key.Name); ok && c.mine(o) && !o.Fields.Paused && len(c.leftovers(o)) > 0 {
		c.loop.Enqueue(key)
	}
}

// ownerOfPod returns the owner of this kind that a pod belongs to. A Prometheus
// and a PrometheusAgent may have the same name; those of their workloads differ.
// A pod that has lost its StatefulSet is known by its own name.
func (k *Kind) ownerOfPod(pod *corev1.Pod) (key types.NamespacedName, ok bool) {
	ours := rollout.Orphan(pod) && strings.HasPrefix(pod.Name, k.prefix)
	for _, ref := range pod.OwnerReferences {
		ours = ours || strings.HasPrefix(ref.Name, k.prefix)
	}
	if !ours {
		return key, false
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[workload.LabelOwnerName]}, true
}

// podsOf returns the running pods of an owner.
func (c *Controller) podsOf(key types.NamespacedName) []*corev1.Pod {
	all := c.stores.runningPods.List(key.Namespace, labels.SelectorFromSet(labels.Set{workload.LabelOwnerName: key.Name}))
	return slices.DeleteFunc(all, func(pod *corev1.Pod) bool {
		_, ours := c.kind.ownerOfPod(pod)
		return !ours
	})
}
