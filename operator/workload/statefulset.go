package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newStatefulSet returns a StatefulSet for pod. match is its selector, and hash is that
// of [Base.HashOf]; if it is empty, the annotation is omitted. The result shares memory
// with its arguments.
func (b *Base) newStatefulSet(name string, match map[string]string, hash string, pod corev1.PodTemplateSpec) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: b.WorkloadMeta(name, match, hash),
		Spec: appsv1.StatefulSetSpec{
			ServiceName:          b.ServiceName(),
			Replicas:             new(b.Replicas()),
			PodManagementPolicy:  b.podManagement(),
			UpdateStrategy:       b.updateStrategy(),
			MinReadySeconds:      b.MinReadySeconds(),
			Selector:             &metav1.LabelSelector{MatchLabels: match},
			Template:             pod,
			VolumeClaimTemplates: b.claimTemplates(),
		},
	}
}

// podManagement is immutable in an existing StatefulSet.
func (b *Base) podManagement() appsv1.PodManagementPolicyType {
	if b.Fields.PodManagementPolicy == "" {
		return appsv1.ParallelPodManagement
	}
	return appsv1.PodManagementPolicyType(b.Fields.PodManagementPolicy)
}

func (b *Base) updateStrategy() appsv1.StatefulSetUpdateStrategy {
	u := b.Fields.UpdateStrategy
	if u == nil {
		return appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}
	}
	out := appsv1.StatefulSetUpdateStrategy{Type: appsv1.StatefulSetUpdateStrategyType(u.Type)}
	if u.RollingUpdate != nil {
		out.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: u.RollingUpdate.MaxUnavailable}
	}
	return out
}

// MinReadySeconds returns how long a pod must be ready before it counts as available.
func (b *Base) MinReadySeconds() int32 {
	if b.Fields.MinReadySeconds == nil {
		return 0
	}
	return *b.Fields.MinReadySeconds
}
