package rollout

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Misfit says why the pods of a StatefulSet cannot live on under another one of
// the same name; empty when that one adopts them and leaves them running.
//
//	differs                   | pods
//	--------------------------|------------------------------------------------
//	podManagementPolicy       | stay: it is not part of a pod
//	settings of a claim       | stay: claims that exist are not touched
//	a claim template is gone  | stay; the changed pod template replaces them in turn
//	a claim template is new   | go: the volumes of a pod cannot change, and the
//	                          | StatefulSet controller would fail for ever trying
//	the selector              | go: it might not find them
//	serviceName               | go: it is part of their host names, and the
//	                          | StatefulSet controller would not replace them
//	the pod template          | stay until the rolling update gets to them
func Misfit(live, want *appsv1.StatefulSet) string {
	if !equality.Semantic.DeepEqual(live.Spec.Selector, want.Spec.Selector) {
		return "the selector changes"
	}
	if live.Spec.ServiceName != want.Spec.ServiceName {
		return fmt.Sprintf("serviceName changes from %q to %q, and with it the pods' host names", live.Spec.ServiceName, want.Spec.ServiceName)
	}
	for _, c := range want.Spec.VolumeClaimTemplates {
		if !hasClaim(live.Spec.VolumeClaimTemplates, c.Name) {
			return fmt.Sprintf("claim template %q is new, and the volumes of a pod cannot change", c.Name)
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
