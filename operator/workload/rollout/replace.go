package rollout

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// SetOf returns the name of the StatefulSet that created a pod, even if the owner
// reference is lost. ok is false for other pods, including copies of "kubectl debug".
func SetOf(p *corev1.Pod) (name string, ordinal int, ok bool) {
	cut := strings.LastIndexByte(p.Name, '-')
	if cut < 0 || p.Labels[appsv1.StatefulSetPodNameLabel] != p.Name {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(p.Name[cut+1:])
	return p.Name[:cut], ordinal, err == nil
}

// Orphan reports whether a pod of a StatefulSet has no owner.
func Orphan(p *corev1.Pod) bool {
	_, _, ok := SetOf(p)
	return ok && len(p.OwnerReferences) == 0
}

// Abandoned reports whether a pod remains after its StatefulSet was deleted: an orphan,
// or one that was adopted by a DaemonSet with the same pod labels. The latter would keep
// running beside the pods of the DaemonSet, or replace one of them.
func Abandoned(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	_, _, ok := SetOf(p)
	return Orphan(p) || ok && owner != nil && owner.Kind == "DaemonSet"
}

// Relabel returns the labels that an orphan needs to be adopted by a recreated
// StatefulSet, nil if it needs none. A pod that a user removed from the selector is
// younger than its StatefulSet and not changed.
func Relabel(sts *appsv1.StatefulSet, p *corev1.Pod) map[string]string {
	if !Orphan(p) || p.DeletionTimestamp != nil || !outlived(sts, p) || selects(sts, p) {
		return nil
	}
	return sts.Spec.Selector.MatchLabels
}

func selects(sts *appsv1.StatefulSet, p *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(sts.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// Replace returns the next pod to delete of a StatefulSet that was recreated around its
// pods, because the pod does not fit and no rolling update replaces it, and the reason.
// It returns nil if there is none or the deletion must wait.
//
// A pod that is not ready is deleted first, because it serves no requests. Otherwise it
// is the pod with the lowest ordinal, if all existing pods are ready and none below it is
// missing: the StatefulSet controller stops at the first pod that it cannot reconcile, so
// it would not create those above. With the update strategy OnDelete the user decides.
//
// pods are the pods with the StatefulSet's name by ordinal, and ready reports whether a
// pod is ready.
func Replace(sts *appsv1.StatefulSet, pods []*corev1.Pod, ready func(*corev1.Pod) bool) (next *corev1.Pod, why string) {
	if sts.Generation != sts.Status.ObservedGeneration || // the controller would not create the next pod
		sts.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil, ""
	}
	rolling := false
	for _, p := range pods {
		rolling = rolling || p.Labels[appsv1.ControllerRevisionHashLabelKey] != sts.Status.UpdateRevision
	}
	wait := false
	for i, p := range pods {
		reason := unfit(sts, p, rolling)
		_, ordinal, _ := SetOf(p)
		switch {
		case p.DeletionTimestamp != nil:
			wait = true
		case ready(p):
			if reason != "" && next == nil {
				next, why = p, reason
				wait = wait || ordinal != i
			}
		case reason != "":
			return p, reason
		default:
			wait = true
		}
	}
	if wait {
		return nil, ""
	}
	return next, why
}

// outlived reports whether a pod is older than its StatefulSet, which was recreated
// around it. The form of a younger pod was determined at its creation, perhaps by a
// webhook, and a replacement would be the same.
func outlived(sts *appsv1.StatefulSet, p *corev1.Pod) bool {
	return !p.CreationTimestamp.After(sts.CreationTimestamp.Time)
}

// unfit returns why a pod must be replaced although no rolling update does so, or "".
func unfit(sts *appsv1.StatefulSet, p *corev1.Pod, rolling bool) string {
	if !outlived(sts, p) {
		return ""
	}
	if !selects(sts, p) {
		return "its labels do not match the selector"
	}
	for _, t := range sts.Spec.VolumeClaimTemplates {
		if !mounts(p, t.Name) {
			return fmt.Sprintf("it has no volume from the volume claim template %q", t.Name)
		}
	}
	if p.Spec.Subdomain != sts.Spec.ServiceName && !rolling {
		return fmt.Sprintf("its host name has the service name %q", p.Spec.Subdomain)
	}
	return ""
}

// mounts reports whether a pod has the claim of a template as a volume.
func mounts(p *corev1.Pod, template string) bool {
	for _, v := range p.Spec.Volumes {
		if v.Name == template && v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == template+"-"+p.Name {
			return true
		}
	}
	return false
}
