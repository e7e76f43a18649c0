//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/kubernetes"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// last is the name of an object that cannot exist. Builders handle events in order and send a group
// for each, so the group of this object follows those of all others.
const last = "-"

// Informers returns the informer of the objects of a role, or of "namespace"; nil for metadata that
// is not attached.
type Informers func(role string) cache.SharedIndexInformer

// NewBuilder returns the group builder of Prometheus for a role; nil for an unknown role. Informers of the primary
// objects of the role need the indices of [Indexers]. left (optional) records which objects are left out.
func NewBuilder(role string, of Informers, left Left) discovery.Discoverer {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "events_total"}, []string{"role", "event"})
	primary, nodes, namespaces := bind(role, of, left), optional(of(roleNode)), optional(of(namespaceObjects))
	switch role {
	case roleEndpoints:
		return kubernetes.NewEndpoints(nil, primary, of(roleService), of(rolePod), nodes, namespaces, nil, nil, false, false, false, events)
	case roleEndpointSlice:
		return kubernetes.NewEndpointSlice(nil, primary, of(roleService), of(rolePod), nodes, namespaces, nil, nil, false, false, false, events)
	case rolePod:
		return kubernetes.NewPod(nil, primary, nodes, namespaces, nil, nil, false, false, false, events)
	case roleService:
		return kubernetes.NewService(nil, primary, namespaces, events)
	case roleIngress:
		return kubernetes.NewIngress(nil, primary, namespaces, events)
	case roleNode:
		return kubernetes.NewNode(nil, primary, events)
	}
	return nil
}

// optional converts an informer of metadata; without one it returns a nil interface, for which
// builders check.
func optional(i cache.SharedIndexInformer) cache.SharedInformer {
	if i == nil {
		return nil
	}
	return i
}

// End returns an object of a role, or a namespace, that does not exist. A builder that handles its
// deletion sends a group for which [IsEnd] is true, after the groups of all earlier events.
func End(role string) Object {
	name := metav1.ObjectMeta{Namespace: last, Name: last}
	switch role {
	case roleEndpoints:
		return &corev1.Endpoints{ObjectMeta: name}
	case roleEndpointSlice:
		return &discoveryv1.EndpointSlice{ObjectMeta: name}
	case rolePod:
		return &corev1.Pod{ObjectMeta: name}
	case roleService:
		return &corev1.Service{ObjectMeta: name}
	case roleIngress:
		return &networkingv1.Ingress{ObjectMeta: name}
	case roleNode:
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: last}}
	case namespaceObjects:
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: last}}
	}
	return nil
}

// IsEnd reports whether a group is for the object of [End].
func IsEnd(source string) bool { return strings.HasSuffix(source, "/"+last) }
