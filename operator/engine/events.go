package engine

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// ControllerIDAnnotation on a workload names the operator that is responsible for it.
const ControllerIDAnnotation = "operator.prometheus.io/controller-id"

// handleEvents connects the stores to the queue.
func (c *Controller) handleEvents() error {
	s := c.stores
	connects := []func() error{
		func() error { return s.workloads.OnChange(c.workloadChanged) },
		func() error { return s.connect(c) },
		func() error { return s.namespaces.OnChange(c.namespaceChanged) },
		func() error { return referenceChanged(c, s.refs.secrets, assets.Secret) },
		func() error { return referenceChanged(c, s.refs.configMaps, assets.ConfigMap) },
		func() error { return ownedChanged(c, s.secrets, "Secret", c.writer.Secrets()) },
		func() error { return ownedChanged(c, s.services, "Service", c.writer.Services()) },
		func() error { return s.statefulSets.OnChange(c.statefulSetChanged) },
		func() error { return s.pods.OnChange(c.podChanged) },
	}
	if s.claims != nil {
		connects = append(connects, func() error { return s.claims.OnChange(c.claimChanged) })
	}
	if s.daemonSets != nil {
		connects = append(connects, func() error { return s.daemonSets.OnChange(c.daemonSetChanged) })
	}
	if s.configMaps != nil {
		connects = append(connects, func() error { return ownedChanged(c, s.configMaps, "ConfigMap", c.writer.ConfigMaps()) })
	}
	for _, connect := range connects {
		if err := connect(); err != nil {
			return err
		}
	}
	return nil
}

// manages reports whether this operator is responsible for a workload.
func (c *Controller) manages(w metav1.Object) bool {
	return w.GetAnnotations()[ControllerIDAnnotation] == c.opts.ControllerID
}

// trigger requests reconciliations because of an event of an object of the kind by.
func (c *Controller) trigger(by, action string, obj metav1.Object, keys ...types.NamespacedName) {
	if len(keys) == 0 {
		return
	}
	c.metrics.Triggered(by, action)
	c.timeline.Notice(catalog.RefOf(by, obj), keys...)
	for _, key := range keys {
		c.loop.enqueue(key)
	}
}

func (c *Controller) workloadChanged(e informer.Event[catalog.Object]) {
	w := e.Object().(v1.Workload)
	key := catalog.KeyOf(w)
	c.changed(AboutWorkload, c.kind.Kind, key)
	if c.servesOtherwise(e) {
		c.wakePeers(w)
	}
	if e.Action == "delete" {
		c.sharing(w.GetNamespace()) // drops it
	}
	if c.handsOver(e) {
		c.bindings.handOver(key, w)
	}
	if e.Action == "delete" || !c.manages(w) {
		c.index.Remove(key)
		if c.manages(w) || (e.Action == "update" && c.manages(e.Before)) {
			c.trigger(c.kind.Kind, e.Action, w, key) // its reconciliation drops the state
		}
		return
	}
	if e.Action == "update" && sameIntent(e.Before, e.After) && !c.losesFinalizer(e) {
		return
	}
	c.index.Set(key, c.kind.indexRules(w))
	c.trigger(c.kind.Kind, e.Action, w, key)
}

// servesOtherwise reports whether a workload was deleted or needs other ports of its shared Service
// than before.
func (c *Controller) servesOtherwise(e informer.Event[catalog.Object]) bool {
	if e.Action == "update" && e.Before.GetGeneration() != e.After.GetGeneration() {
		before, after := c.kind.Shape(e.Before.(v1.Workload)), c.kind.Shape(e.After.(v1.Workload))
		return !slices.Equal(before.Service.Ports, after.Service.Ports)
	}
	return e.Action == "delete"
}

// usesService reports whether the workload in an owner reference of the shared Service uses it. A
// workload of another operator always counts as a user. One of ours that was deleted and recreated with its name does
// not, until the garbage collector has removed the reference: this may take minutes, with ports that nothing serves.
func (c *Controller) usesService(namespace string, ref metav1.OwnerReference) (uses, known bool) {
	w, ok := c.stores.workloads.get(namespace, ref.Name)
	if !ok || ref.Kind != c.kind.Kind || w.GetUID() != ref.UID && !c.manages(w) {
		return false, false
	}
	if w.GetUID() != ref.UID {
		return false, true
	}
	use := c.sharing(namespace).uses[ref.Name]
	if use == nil || use.of != w {
		use = c.useOf(w)
	}
	return use.foreign || use.shared(), true
}

// wakePeers wakes the other workloads of a namespace. It is not counted as a trigger, because the
// metric documents no such trigger.
func (c *Controller) wakePeers(w v1.Workload) {
	for _, peer := range c.stores.workloads.in(w.GetNamespace()) {
		if peer.GetName() != w.GetName() && c.manages(peer) {
			c.loop.enqueue(catalog.KeyOf(peer))
		}
	}
}

// sameIntent reports whether two versions of an object have the same desired state: status writes
// and resyncs do not count. An object that was deleted and recreated during a watch interruption
// arrives as an update with another UID.
func sameIntent(before, after metav1.Object) bool {
	return before.GetUID() == after.GetUID() && before.GetGeneration() == after.GetGeneration() && capacity.IsStub(before) == capacity.IsStub(after) &&
		maps.Equal(before.GetLabels(), after.GetLabels()) &&
		maps.Equal(before.GetAnnotations(), after.GetAnnotations()) &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp())
}

// handleConfig wakes the workloads that select or name an object, or did so before.
func (c *Controller) handleConfig(kind string, store *informer.Store[catalog.Object]) error {
	return store.OnChange(func(e informer.Event[catalog.Object]) {
		obj := e.Object()
		c.changed(AboutConfig, kind, catalog.KeyOf(obj))
		if e.Action == "update" && e.Before.GetUID() == e.After.GetUID() && e.Before.GetGeneration() == e.After.GetGeneration() &&
			capacity.IsStub(e.Before) == capacity.IsStub(e.After) &&
			maps.Equal(e.Before.GetLabels(), e.After.GetLabels()) &&
			e.Before.GetDeletionTimestamp().Equal(e.After.GetDeletionTimestamp()) {
			return
		}
		if e.Action == "delete" {
			c.kind.Gone(kind, catalog.KeyOf(obj))
		}
		nsLabels, _ := c.stores.namespaceLabels(obj.GetNamespace())
		versions := []selection.Object{{Namespace: obj.GetNamespace(), Name: obj.GetName(), NamespaceLabels: nsLabels, Labels: obj.GetLabels()}}
		if e.Action == "update" {
			versions = append(versions, selection.Object{
				Namespace: obj.GetNamespace(), Name: obj.GetName(), NamespaceLabels: nsLabels, Labels: e.Before.GetLabels(),
			})
		}
		c.trigger(kind, e.Action, obj, c.index.SelectedBy(kind, versions...)...)
	})
}

func (c *Controller) namespaceChanged(e informer.Event[*corev1.Namespace]) {
	c.changed(AboutOther, "", types.NamespacedName{})
	switch e.Action {
	case "update":
		c.trigger("Namespace", e.Action, e.Object(), c.index.NamespaceChanged(e.After.Name, e.Before.Labels, e.After.Labels)...)
	case "add":
		// Its objects may have been seen before the namespace itself.
		c.trigger("Namespace", e.Action, e.Object(), c.index.NamespaceAdded(e.After.Name, e.After.Labels)...)
	case "delete":
		// The deletions of its objects arrive on other watches; later ones can no longer look up
		// the labels by which workloads select the namespace.
		c.trigger("Namespace", e.Action, e.Object(), c.index.NamespaceAdded(e.Before.Name, e.Before.Labels)...)
	}
}

// referenceChanged wakes the workloads whose last reconciliation read the object.
func referenceChanged(c *Controller, store *informer.Store[*metav1.PartialObjectMetadata], kind assets.Kind) error {
	return store.OnChange(func(e informer.Event[*metav1.PartialObjectMetadata]) {
		obj := e.Object()
		ref := assets.Ref{Kind: kind, Namespace: obj.Namespace, Name: obj.Name}
		switch {
		case e.Action != "delete":
		case store.Missing(catalog.KeyOf(obj)):
			c.assets.Forget(ref)
		default:
			c.assets.Unsure(ref)
		}
		c.trigger(kind.String(), e.Action, obj, c.referencing(ref)...)
	})
}

// ownedChanged wakes the workload of an object that another client changed or deleted.
func ownedChanged[T informer.Object](c *Controller, store *informer.Store[T], kind string, view *apply.View[T]) error {
	return store.OnChange(func(e informer.Event[T]) {
		obj := e.Object()
		c.changed(AboutOther, "", types.NamespacedName{})
		if e.Action == "delete" {
			view.Forget(obj)
		}
		// A polled cache may first see our object after another client has changed it.
		if (e.Action == "add" && !view.Since(obj)) || (e.Action == "update" && view.Ours(obj)) {
			return
		}
		c.trigger(kind, e.Action, obj, eventWorkloads(c, e)...)
	})
}

// eventWorkloads returns the workloads of both versions of the object in an event: the owner
// reference may have been removed.
func eventWorkloads[T informer.Object](c *Controller, e informer.Event[T]) []types.NamespacedName {
	if e.Action != "update" {
		return c.workloadsOf(e.Object())
	}
	return c.workloadsOf(e.Before, e.After)
}

// workloadsOf returns the workloads in the objects' owner references that this operator is
// responsible for, without duplicates. They are looked up by name: the children of a recreated
// workload still refer to its predecessor.
func (c *Controller) workloadsOf(versions ...metav1.Object) []types.NamespacedName {
	var out []types.NamespacedName
	for _, obj := range versions {
		for _, ref := range obj.GetOwnerReferences() {
			if ref.Kind != c.kind.Kind || !strings.HasPrefix(ref.APIVersion, c.kind.Group+"/") {
				continue
			}
			w, ok := c.stores.workloads.get(obj.GetNamespace(), ref.Name)
			if ok && c.manages(w) && !slices.Contains(out, catalog.KeyOf(w)) {
				out = append(out, catalog.KeyOf(w))
			}
		}
	}
	return out
}

func (c *Controller) statefulSetChanged(e informer.Event[*appsv1.StatefulSet]) {
	if e.Action == "delete" {
		c.writer.StatefulSets().Forget(e.Before)
	}
	found := eventWorkloads(c, e)
	for _, key := range found {
		c.changed(AboutPods, c.kind.Kind, key)
		c.loop.enqueueStatus(key)
		c.wakeForPods(key)
	}
	if e.Action == "delete" && len(found) == 0 {
		c.loop.enqueue(types.NamespacedName{Namespace: e.Before.Namespace, Name: e.Before.Labels[c.kind.nameLabel()]}) // see abandoned
	}
	if e.Action == "update" && (e.After.DeletionTimestamp != nil || sameIntent(e.Before, e.After) &&
		equality.Semantic.DeepEqual(e.Before.OwnerReferences, e.After.OwnerReferences)) {
		return
	}
	// Our own write deliberately triggers one more reconciliation: its input hash was computed from
	// the spec before it.
	c.trigger("StatefulSet", e.Action, e.Object(), found...)
}

// claimChanged wakes the workload of a claim if its messages may change or it can now be resized.
func (c *Controller) claimChanged(e informer.Event[*corev1.PersistentVolumeClaim]) {
	if e.Action == "add" || e.Action == "update" && e.Before.Status.Phase == e.After.Status.Phase &&
		equality.Semantic.DeepEqual(e.Before.Spec, e.After.Spec) && e.Before.DeletionTimestamp.Equal(e.After.DeletionTimestamp) {
		return
	}
	claim := e.Object()
	w, ok := c.stores.workloads.get(claim.Namespace, claim.Labels[c.kind.nameLabel()])
	if ok && c.manages(w) {
		c.loop.enqueue(catalog.KeyOf(w))
	}
}

// daemonSetChanged is like statefulSetChanged; echoes of our own writes are ignored.
func (c *Controller) daemonSetChanged(e informer.Event[*appsv1.DaemonSet]) {
	if e.Action == "delete" {
		c.writer.ForgetDaemonSet(e.Before)
	}
	found := eventWorkloads(c, e)
	for _, key := range found {
		c.changed(AboutPods, c.kind.Kind, key)
		c.loop.enqueueStatus(key)
	}
	if e.Action == "update" && (e.After.DeletionTimestamp != nil || c.writer.DaemonSets().Ours(e.After) || sameIntent(e.Before, e.After) &&
		equality.Semantic.DeepEqual(e.Before.OwnerReferences, e.After.OwnerReferences)) {
		return
	}
	for _, key := range found {
		c.loop.enqueue(key) // not counted: the metric documents only the triggers of StatefulSets
	}
}
