package engine

import (
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Cached is a cache of a controller. Its objects are shared and must not be modified.
type Cached interface {
	// Covers reports whether the cache contains the objects of a namespace.
	Covers(namespace string) bool
	// Object returns an object; the namespace is empty for cluster-scoped kinds.
	Object(namespace, name string) (catalog.Object, bool)
	// Objects returns the objects of a namespace, or all for "", sorted by "namespace/name".
	Objects(namespace string) iter.Seq[catalog.Object]
}

type cached[T informer.Object] struct{ *informer.Store[T] }

// Object implements Cached.
func (s cached[T]) Object(namespace, name string) (catalog.Object, bool) {
	obj, ok := s.Get(namespace, name)
	if !ok {
		return nil, false
	}
	return obj, true
}

// Objects implements Cached.
func (s cached[T]) Objects(namespace string) iter.Seq[catalog.Object] {
	all := s.Sorted()
	if namespace != "" {
		all = s.SortedIn(namespace)
	}
	return func(yield func(catalog.Object) bool) {
		for obj := range all {
			if !yield(obj) {
				return
			}
		}
	}
}

// cacheOf returns a store as a cache; none for nil.
func cacheOf[T informer.Object](s *informer.Store[T]) []Cached {
	if s == nil {
		return nil
	}
	return []Cached{cached[T]{s}}
}

// Caches returns the caches with objects of a resource; none if the controller does not cache it.
// The caches of StatefulSets, DaemonSets, pods, ConfigMaps and Secrets contain the objects that
// belong to workloads, pods and Secrets only partially. They are complete once [Options.Synced] was
// called.
func (c *Controller) Caches(of schema.GroupVersionResource) []Cached {
	s := c.stores
	switch of {
	case c.kind.Row.GroupVersionResource():
		return cacheOf(s.workloads.Store)
	case corev1.SchemeGroupVersion.WithResource("namespaces"):
		return cacheOf(s.namespaces)
	case corev1.SchemeGroupVersion.WithResource("pods"):
		return cacheOf(s.pods)
	case corev1.SchemeGroupVersion.WithResource("secrets"):
		return cacheOf(s.secrets)
	case corev1.SchemeGroupVersion.WithResource("configmaps"):
		return cacheOf(s.configMaps)
	case appsv1.SchemeGroupVersion.WithResource("statefulsets"):
		return cacheOf(s.statefulSets)
	case appsv1.SchemeGroupVersion.WithResource("daemonsets"):
		return cacheOf(s.daemonSets)
	}
	for _, k := range c.kind.Selects {
		if k.Row.GroupVersionResource() == of {
			return cacheOf(s.config(k.Row))
		}
	}
	return nil
}

// References returns a reader of the cached Secrets and ConfigMaps that workloads refer to, which
// never calls the API server. The second result changes whenever they do.
func (c *Controller) References() (assets.Reader, uint64) { return c.assets.Kept(), c.assets.Changes() }

// ChangeAbout is the subject of a change in a cache.
type ChangeAbout uint8

const (
	AboutOther    ChangeAbout = iota // an object without a page of its own
	AboutWorkload                    // the workload itself
	AboutConfig                      // an object that workloads select
	AboutPods                        // pods of a workload or the object that runs them
)

// Change describes a change in the caches.
type Change struct {
	About ChangeAbout
	// Kind and name of a workload or of an object that workloads select; empty for others.
	Kind string
	types.NamespacedName
}

// changed notifies the listener of a change in the caches.
func (c *Controller) changed(about ChangeAbout, kind string, key types.NamespacedName) {
	if c.opts.Changed != nil {
		c.opts.Changed(Change{about, kind, key})
	}
}
