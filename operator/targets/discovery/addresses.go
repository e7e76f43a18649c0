//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// addressesOf iterates over the addresses of a subset, those that are not ready last.
func addressesOf(s *corev1.EndpointSubset) iter.Seq[*corev1.EndpointAddress] {
	return func(yield func(*corev1.EndpointAddress) bool) {
		for _, list := range [][]corev1.EndpointAddress{s.Addresses, s.NotReadyAddresses} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// containersOf iterates over the containers of a pod, init containers last.
func containersOf(p *corev1.Pod) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}
