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

// SetOf returns the name of the StatefulSet that a pod was created by, also when
// it has lost its owner reference; ok is false for other pods, copies of "kubectl
// debug" among them.
func SetOf(p *corev1.Pod) (name string, ordinal int, ok bool) {
	cut := strings.LastIndexByte(p.Name, '-')
	if cut < 0 || p.Labels[appsv1.StatefulSetPodNameLabel] != p.Name {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(p.Name[cut+1:])
	return p.Name[:cut], ordinal, err == nil
}

// Orphan reports whether a pod of a StatefulSet belongs to nobody.
func Orphan(p *corev1.Pod) bool {
	_, _, ok := SetOf(p)
	return ok && len(p.OwnerReferences) == 0
}

// Abandoned reports whether a pod of a StatefulSet is left when its StatefulSet is gone:
// an orphan, or one that a DaemonSet with the same pod labels has adopted since. That one
// would go on beside the pods of the DaemonSet, or in the place of one.
func Abandoned(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	_, _, ok := SetOf(p)
	return Orphan(p) || ok && owner != nil && owner.Kind == "DaemonSet"
}

// Relabel returns the labels that an orphan needs so that a recreated StatefulSet
// adopts it; nil when it does already. A pod that somebody took out of a selector is
// younger than its StatefulSet and left alone.
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

// Replace returns the pod of a StatefulSet that was recreated around its pods which
// must be deleted next, because it does not fit and no rolling update replaces it,
// and the reason; nil when there is none, or when it is not time yet.
//
// One that is not ready goes at once: nobody reads from it. Of the others the one
// with the lowest ordinal goes, when all pods that exist are ready and none below
// it is missing: the StatefulSet controller stops at the first pod that it cannot
// bring in line, so it would not create those above. With the update strategy
// OnDelete the user decides.
//
// pods are those that have the StatefulSet's name, by ordinal; ready tells about
// one of them.
func Replace(sts *appsv1.StatefulSet, pods []*corev1.Pod, ready func(*corev1.Pod) bool) (next *corev1.Pod, why string) {
	if sts.Generation != sts.Status.ObservedGeneration || // nobody would create the next one
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
// around it. What a younger one looks like was decided when it was created, maybe by
// a webhook, and the next one would look like it.
func outlived(sts *appsv1.StatefulSet, p *corev1.Pod) bool {
	return !p.CreationTimestamp.After(sts.CreationTimestamp.Time)
}

// unfit says why a pod cannot stay although no rolling update replaces it.
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
