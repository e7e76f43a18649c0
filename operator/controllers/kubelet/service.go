package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// service returns the desired Service, or nil if live is up to date. live is nil if it
// does not exist.
func (o Options) service(live *corev1.Service) *corev1.Service {
	next := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Service.Namespace, Name: o.Service.Name},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}, // immutable once the Service exists
	}
	if live != nil {
		next = live.DeepCopy()
	}
	next.Labels, next.Annotations = overlay(next.Labels, o.labels()), overlay(next.Annotations, o.Annotations)
	next.Spec.Type, next.Spec.Selector, next.Spec.Ports = corev1.ServiceTypeClusterIP, nil, nil
	for _, p := range o.ports() {
		next.Spec.Ports = append(next.Spec.Ports, corev1.ServicePort{
			Name: p.name, Port: p.number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(p.number),
		})
	}
	if live != nil && equality.Semantic.DeepEqual(next, live) {
		return nil
	}
	return next
}
