package rollout

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Misfit returns why a recreated StatefulSet cannot keep the pods of its predecessor,
// empty if it adopts them and keeps them running.
//
//	differs                     | pods
//	----------------------------|------------------------------------------------
//	podManagementPolicy         | remain: it is not part of a pod
//	settings of a claim         | remain: existing PVCs are not changed
//	a claim template is removed | remain; the changed pod template replaces them
//	                            | one by one
//	the pod template            | remain until the rolling update reaches them
//	the selector                | get its labels ([Relabel]); then the changed pod
//	                            | template replaces them one by one
//	a claim template is new     | are replaced one by one ([Replace]): their
//	                            | volumes are immutable
//	serviceName                 | are replaced one by one ([Replace]): it is part
//	                            | of their host names, which no rolling update
//	                            | compares
//
// Only the last three are misfits.
func Misfit(live, want *appsv1.StatefulSet) string {
	if !equality.Semantic.DeepEqual(live.Spec.Selector, want.Spec.Selector) {
		return "the selector changes"
	}
	if live.Spec.ServiceName != want.Spec.ServiceName {
		return fmt.Sprintf("serviceName changes from %q to %q, and with it the pods' host names", live.Spec.ServiceName, want.Spec.ServiceName)
	}
	for _, c := range want.Spec.VolumeClaimTemplates {
		if !hasClaim(live.Spec.VolumeClaimTemplates, c.Name) {
			return fmt.Sprintf("volume claim template %q is new, and the volumes of a pod are immutable", c.Name)
		}
	}
	return ""
}

func hasClaim(templates []corev1.PersistentVolumeClaim, name string) bool {
	for _, t := range templates {
		if t.Name == name {
			return true
		}
	}
	return false
}
