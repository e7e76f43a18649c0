package readers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Object is an object of any kind.
type Object = catalog.Object

// Reader reads objects from an API server or another source.
//
// Objects are typed: objects of monitoring.coreos.com as in [catalog.All], Kubernetes objects as in
// k8s.io/api. The caller may modify them, unless the implementation shares them.
type Reader interface {
	// Get reads an object. The namespace of the key is empty for cluster-scoped resources.
	//
	// Errors: those of the API server, including not found. See package apierrors.
	Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (Object, error)
	// List reads objects, in the order of the API server. It returns none for a resource that is
	// not installed.
	//
	// Errors: those of the API server.
	List(ctx context.Context, q Query) ([]Object, error)
	// References returns a reader that reads Secrets and ConfigMaps on demand.
	References(ctx context.Context) assets.Reader
}

// Query selects the objects of a list.
type Query struct {
	schema.GroupVersionResource
	// Namespace is empty for all namespaces, and for cluster-scoped resources.
	Namespace string
	// Name (optional) selects the objects with this name, in several namespaces.
	Name string
	// Labels is a label selector in the syntax of the API server; empty for all objects.
	Labels string
	// Limit (optional) is the number of objects after which the list may end.
	Limit int
	// Keep (optional) returns the part of an object to keep, nil to drop it. It avoids holding all
	// large objects in memory.
	Keep func(Object) Object
	// Packed allows objects that workloads select to have packed specs (see package manifest), as the caches of the operator
	// hold them. What compiles or explains objects unpacks them itself.
	Packed bool
}

// Kept returns the part of an object to keep, nil to drop it.
func (q Query) Kept(o Object) Object {
	if q.Keep == nil {
		return o
	}
	return q.Keep(o)
}

// NamespaceLabels returns the labels of a namespace; ok is false when it does not exist.
func NamespaceLabels(ctx context.Context, r Reader, name string) (l labels.Set, ok bool, err error) {
	object, err := r.Get(ctx, Namespaces, types.NamespacedName{Name: name})
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return object.GetLabels(), true, nil
}

// Pod reads a pod; nil when it does not exist.
//
// Errors: those of the API server.
func Pod(ctx context.Context, r Reader, key types.NamespacedName) (*corev1.Pod, error) {
	object, err := r.Get(ctx, Pods, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return object.(*corev1.Pod), nil
}
