package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// withMemory returns the user's resources with a default memory request, which does not exceed the limit.
func withMemory(user corev1.ResourceRequirements, request resource.Quantity) corev1.ResourceRequirements {
	out := *user.DeepCopy()
	if _, set := out.Requests[corev1.ResourceMemory]; set {
		return out
	}
	if out.Requests == nil {
		out.Requests = corev1.ResourceList{}
	}
	if limit, set := out.Limits[corev1.ResourceMemory]; set && limit.Cmp(request) < 0 {
		request = limit
	}
	out.Requests[corev1.ResourceMemory] = request.DeepCopy()
	return out
}
