//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package kubelet

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// endpoints returns the desired Endpoints, or nil if live is up to date. live is nil if
// they do not exist.
func (o Options) endpoints(all []address, live *corev1.Endpoints) *corev1.Endpoints {
	next := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: o.Service.Namespace, Name: o.Service.Name}}
	if live != nil {
		next.ObjectMeta = *live.ObjectMeta.DeepCopy()
	}
	next.Labels, next.Annotations = overlay(next.Labels, o.labels()), overlay(next.Annotations, o.Annotations)
	if o.keepsSlices() {
		next.Labels = overlay(next.Labels, map[string]string{discoveryv1.LabelSkipMirror: "true"})
	} else {
		delete(next.Labels, discoveryv1.LabelSkipMirror) // let Kubernetes mirror them to EndpointSlices
	}
	next.Subsets = o.subsets(all)
	if live == nil {
		return next
	}
	if sameSubsets(next.Subsets, live.Subsets) && equality.Semantic.DeepEqual(next.ObjectMeta, live.ObjectMeta) {
		return nil
	}
	return next
}

// subsets returns one subset with all addresses, or none if there are no addresses,
// because the API server rejects an empty subset.
func (o Options) subsets(all []address) []corev1.EndpointSubset {
	if len(all) == 0 {
		return nil
	}
	out := corev1.EndpointSubset{Addresses: make([]corev1.EndpointAddress, 0, len(all))}
	for _, a := range all {
		out.Addresses = append(out.Addresses, corev1.EndpointAddress{IP: a.ip, NodeName: &a.node.Name, TargetRef: nodeRef(a.node)})
	}
	for _, p := range o.ports() {
		out.Ports = append(out.Ports, corev1.EndpointPort{Name: p.name, Port: p.number, Protocol: corev1.ProtocolTCP})
	}
	return []corev1.EndpointSubset{out}
}

// sameSubsets compares subsets without regard to order, which the API server may change.
func sameSubsets(want, live []corev1.EndpointSubset) bool {
	if len(want) != len(live) {
		return false
	}
	for i := range want {
		if !equality.Semantic.DeepEqual(sortedSubset(want[i]), sortedSubset(live[i])) {
			return false
		}
	}
	return true
}

func sortedSubset(s corev1.EndpointSubset) corev1.EndpointSubset {
	s.Addresses, s.Ports = slices.Clone(s.Addresses), slices.Clone(s.Ports)
	slices.SortFunc(s.Addresses, func(a, b corev1.EndpointAddress) int { return cmp.Compare(a.IP, b.IP) })
	slices.SortFunc(s.Ports, func(a, b corev1.EndpointPort) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// ours reports whether an object was written by this operator or by the reference
// operator.
func ours(o metav1.Object) bool {
	return o.GetLabels()[wellknown.LabelAppManagedBy] == wellknown.ManagedBy
}
