//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// Foreign reports whether an object refers to pods of other namespaces. A discovery in one
// namespace does not see their labels, a discovery in all namespaces does.
func Foreign(object Object) bool {
	for _, ref := range podRefs(object) {
		if ref.Namespace != object.GetNamespace() {
			return true
		}
	}
	return false
}

// Confined returns the group of an object as a discovery in its namespace builds it, without the
// pods of other namespaces.
func Confined(role string, of Informers, object Object) *targetgroup.Group {
	object = object.DeepCopyObject().(Object)
	for _, ref := range podRefs(object) {
		if ref.Namespace != object.GetNamespace() {
			ref.Namespace = last // the name is not part of any label, and no pod is found
		}
	}
	in := informers{role: {store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}}
	_ = in[role].store.Add(object) // its key has a name
	for _, other := range []string{roleService, rolePod, roleNode, namespaceObjects} {
		if i := of(other); i != nil && other != role {
			in[other] = &informer{store: i.GetIndexer()}
		}
	}
	groups, _ := in.groups(role)
	for _, group := range groups {
		return group
	}
	return &targetgroup.Group{}
}

// podRefs returns the references of addresses to pods.
func podRefs(object Object) (out []*corev1.ObjectReference) {
	add := func(ref *corev1.ObjectReference) {
		if ref != nil && ref.Kind == "Pod" {
			out = append(out, ref)
		}
	}
	switch o := object.(type) {
	case *discoveryv1.EndpointSlice:
		for i := range o.Endpoints {
			add(o.Endpoints[i].TargetRef)
		}
	case *corev1.Endpoints:
		for i := range o.Subsets {
			for a := range addressesOf(&o.Subsets[i]) {
				add(a.TargetRef)
			}
		}
	}
	return out
}
