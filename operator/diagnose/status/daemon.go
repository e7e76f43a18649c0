package status

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// templateGeneration is the label of DaemonSet pods with the generation of their template.
const templateGeneration = "pod-template-generation"

// daemon is the latest template of a DaemonSet. A DaemonSet does not report its revision.
type daemon struct {
	generation string          // empty if no pod is known to be outdated
	revisions  map[string]bool // revisions of the pods of this generation
}

// daemonOf returns the latest template of a DaemonSet with some pods. d may be nil.
func daemonOf(d *appsv1.DaemonSet, pods []*corev1.Pod) daemon {
	out := daemon{revisions: map[string]bool{}}
	if d == nil || d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedNumberScheduled >= d.Status.DesiredNumberScheduled {
		return out
	}
	out.generation = d.Annotations[appsv1.DeprecatedTemplateGeneration]
	for _, p := range pods {
		if p.Labels[templateGeneration] == out.generation {
			out.revisions[p.Labels[appsv1.ControllerRevisionHashLabelKey]] = true
		}
	}
	return out
}

// outdated reports whether a pod has an older template. After a rollback, a pod can have an older
// generation with the latest revision; it is not outdated.
func (d daemon) outdated(p *corev1.Pod) bool {
	return d.generation != "" && p.Labels[templateGeneration] != d.generation && !d.revisions[p.Labels[appsv1.ControllerRevisionHashLabelKey]]
}
