package informercache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Controller provides the caches for one kind of workload.
type Controller interface {
	Caches(of schema.GroupVersionResource) []engine.Cached
	References() (r assets.Reader, changes uint64)
	Loaded(pod types.NamespacedName) delivery.Loaded
	Timeline(workload types.NamespacedName) []timeline.Change
}

// Cluster reads from the caches of the started controllers. It is safe for concurrent use.
type Cluster struct {
	// Events are the Events that the operator sent.
	Events *Events

	mu      sync.RWMutex
	started []started
	feed    feed
}

type started struct {
	row *catalog.Row
	Controller
}

// New returns a cluster without controllers. Until [Cluster.Add], reads fail with 503.
func New() *Cluster {
	c := &Cluster{Events: &Events{}}
	c.feed.init()
	c.Events.changed = c.feed.bump
	return c
}

// Add adds the controller of a kind. Its caches must have synced.
func (c *Cluster) Add(row *catalog.Row, of Controller) {
	c.mu.Lock()
	c.started = append(slices.Clone(c.started), started{row, of})
	c.mu.Unlock()
	c.feed.bump()
}

func (c *Cluster) controllers() []started {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.started
}

// Loaded returns the configuration that a pod of a workload runs, as last seen by its controller.
func (c *Cluster) Loaded(workload *catalog.Row, pod types.NamespacedName) delivery.Loaded {
	for _, s := range c.controllers() {
		if s.row == workload {
			return s.Loaded(pod)
		}
	}
	return delivery.Loaded{}
}

// Timeline returns the last changes of a workload as recorded by its controller, the last one first.
func (c *Cluster) Timeline(workload *catalog.Row, key types.NamespacedName) []timeline.Change {
	for _, s := range c.controllers() {
		if s.row == workload {
			return s.Timeline(key)
		}
	}
	return nil
}

// parts are resources of which the caches hold only the objects of workloads, so a miss does not
// mean that the object does not exist. StatefulSets and DaemonSets are read by the names that
// workloads give them, so a miss is conclusive for them.
var parts = []schema.GroupVersionResource{readers.Pods, readers.Secrets, readers.ConfigMaps}

// caches returns the caches of a resource.
//
// Errors: 503 when there are none.
func (c *Cluster) caches(of schema.GroupVersionResource) (out []engine.Cached, err error) {
	known := false
	for _, s := range c.controllers() {
		out = append(out, s.Caches(of)...)
		known = true
	}
	switch row := rowOf(of); {
	case len(out) > 0:
		return out, nil
	case row != nil && row.IsWorkload():
		return nil, unknown("the operator does not watch %s: its controller has not started (see the log)", of.Resource)
	case !known:
		return nil, unknown("no controller of the operator has started (see the log)")
	case row != nil:
		return nil, unknown("the operator does not watch %s: the CRD is not installed, or the operator has no permission to list and watch it", of.Resource)
	case of == readers.DaemonSets:
		return nil, nil // no workload runs as one
	}
	return nil, unknown("the operator does not keep %s in its caches", of.GroupResource())
}

func rowOf(of schema.GroupVersionResource) *catalog.Row {
	at := slices.IndexFunc(catalog.All, func(row *catalog.Row) bool { return row.GroupVersionResource() == of })
	if at < 0 {
		return nil
	}
	return catalog.All[at]
}

func unknown(format string, args ...any) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf(format, args...))
}

// Get implements [readers.Reader].
//
// Errors: also 503 for an object that is not cached but may exist.
func (c *Cluster) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	caches, err := c.caches(of)
	if err != nil {
		return nil, err
	}
	covered := of == readers.DaemonSets
	for _, cache := range caches {
		if object, ok := cache.Object(key.Namespace, key.Name); ok {
			return manifest.Whole(shown(object)), nil
		}
		covered = covered || cache.Covers(key.Namespace)
	}
	switch {
	case !covered:
		return nil, unknown("the operator does not watch %s in namespace %s", of.GroupResource(), key.Namespace)
	case slices.Contains(parts, of):
		return nil, unknown("%s %s is not in the caches of the operator, which has those of workloads only", of.Resource, key)
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

// List implements [readers.Reader]. For Kubernetes resources except Namespaces, it returns only
// objects that belong to workloads.
func (c *Cluster) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("label selector %q: %v", q.Labels, err))
	}
	if q.GroupVersionResource == readers.Events {
		return c.Events.list(q), nil
	}
	caches, err := c.caches(q.GroupVersionResource)
	if err != nil {
		return nil, err
	}
	covered := q.Namespace == "" || q.GroupVersionResource == readers.DaemonSets
	for _, cache := range caches {
		if !covered && !cache.Covers(q.Namespace) {
			continue
		}
		covered = true
		for object := range cache.Objects(q.Namespace) {
			if q.Name != "" && object.GetName() != q.Name || !selector.Matches(labels.Set(object.GetLabels())) {
				continue
			}
			part := shown(object)
			if !q.Packed {
				part = manifest.Whole(part)
			}
			if kept := q.Kept(part); kept != nil {
				out = append(out, kept)
			}
			if q.Limit > 0 && len(out) >= q.Limit && len(caches) == 1 {
				return out, nil
			}
		}
	}
	if !covered {
		return nil, unknown("the operator does not watch %s in namespace %s", q.GroupResource(), q.Namespace)
	}
	if len(caches) > 1 {
		out = merged(out)
	}
	return out, nil
}

// merged sorts the objects of several caches and removes duplicates.
func merged(all []readers.Object) []readers.Object {
	slices.SortStableFunc(all, func(a, b readers.Object) int { return informer.CompareKeys(a, b) })
	return slices.CompactFunc(all, func(a, b readers.Object) bool {
		return a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
	})
}

// shown returns the part of an object that readers may see: of a Secret only its metadata.
func shown(o readers.Object) readers.Object {
	s, is := o.(*corev1.Secret)
	if !is {
		return o
	}
	return &corev1.Secret{TypeMeta: s.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: s.Namespace, Name: s.Name, UID: s.UID, ResourceVersion: s.ResourceVersion, Generation: s.Generation,
		CreationTimestamp: s.CreationTimestamp, Labels: s.Labels, OwnerReferences: s.OwnerReferences,
	}, Type: s.Type}
}

// References implements [readers.Reader]. Only objects that a workload has referred to are
// available.
func (c *Cluster) References(context.Context) assets.Reader {
	var out references
	for _, s := range c.controllers() {
		r, _ := s.References()
		out = append(out, r)
	}
	return out
}

// references are the readers of several controllers, which may watch different namespaces.
type references []assets.Reader

// Object implements [assets.Reader].
func (r references) Object(ref assets.Ref) (out assets.Object, err error) {
	err = unknown("no controller of the operator has started")
	for _, each := range r {
		if out, err = each.Object(ref); err == nil {
			return out, nil
		}
	}
	return out, err
}
