package readers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Object is an object of any kind.
type Object = catalog.Object

// Reader reads objects: those of an API server, or what it would have.
//
// Objects are typed: those of monitoring.coreos.com as in [catalog.All], those of Kubernetes
// as in k8s.io/api. They belong to whoever reads them.
type Reader interface {
	// Get reads an object. The namespace of the key is empty for kinds without namespaces.
	//
	// Errors: those of the API server, for which package apierrors has words; not found too.
	Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (Object, error)
	// List reads objects, in the order of the API server. Of a kind that is not installed
	// there are none.
	//
	// Errors: those of the API server.
	List(ctx context.Context, q Query) ([]Object, error)
	// References reads the Secrets and ConfigMaps that objects refer to when it is asked for
	// them.
	References(ctx context.Context) assets.Reader
}

// Query says which objects are listed.
type Query struct {
	schema.GroupVersionResource
	// Namespace is empty for all, and for kinds without namespaces.
	Namespace string
	// Name (optional) is the one name of objects that are listed, in several namespaces.
	Name string
	// Labels is a label selector as the API server takes it; empty for all objects.
	Labels string
	// Limit (optional) is the number of objects after which the rest does not matter.
	Limit int
	// Keep (optional) returns what is kept of an object, nil for nothing, so that large
	// objects are not all in memory.
	Keep func(Object) Object
}

// Kept is what is kept of an object.
func (q Query) Kept(o Object) Object {
	if q.Keep == nil {
		return o
	}
	return q.Keep(o)
}

// Watched are the objects of a kind in the namespaces that an operator watches.
//
// Errors: those of the API server.
func Watched(ctx context.Context, r Reader, row *catalog.Row, in informer.Namespaces) (out []Object, err error) {
	for _, namespace := range in.Watches() {
		objects, err := r.List(ctx, Query{GroupVersionResource: row.GroupVersionResource(), Namespace: namespace})
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("%w; the ClusterRole %s permits it, with a ClusterRoleBinding to you", err, developerRole)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// developerRole permits people to read workloads; it is in the component user-roles.
const developerRole = "firekeeper-developer"

// Somewhere are the objects of a query in all namespaces or, where that is not permitted, in
// one of them: then refused says why there are no others.
//
// Errors: those of the API server.
func Somewhere(ctx context.Context, r Reader, q Query, namespace string) (out []Object, refused, err error) {
	q.Namespace = ""
	out, err = r.List(ctx, q)
	if !apierrors.IsForbidden(err) {
		return out, nil, err
	}
	refused = err
	q.Namespace = namespace
	out, err = r.List(ctx, q)
	return out, refused, err
}

// NamespaceLabels are the labels of a namespace; ok is false when it does not exist.
//
// Errors: those of the API server.
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

// AllNamespaceLabels are the labels of all namespaces, in the form in which [engine.Cluster]
// takes them.
//
// Errors: those of the API server. As far as is known then, each namespace exists, and its
// labels are its name.
func AllNamespaceLabels(ctx context.Context, r Reader) (func(name string) (labels.Set, bool), error) {
	list, err := r.List(ctx, Query{GroupVersionResource: Namespaces})
	if err != nil {
		return func(name string) (labels.Set, bool) { return labels.Set{corev1.LabelMetadataName: name}, true }, err
	}
	all := map[string]labels.Set{}
	for _, n := range list {
		all[n.GetName()] = n.GetLabels()
	}
	return func(name string) (labels.Set, bool) {
		l, ok := all[name]
		return l, ok
	}, nil
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
