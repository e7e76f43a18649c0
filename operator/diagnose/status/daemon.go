package status

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// templateGeneration is the label of pods of a DaemonSet with the number of their template.
const templateGeneration = "pod-template-generation"

// daemon is the newest template of a DaemonSet, which does not name its revision.
type daemon struct {
	generation string          // empty: nobody is outdated, as far as known
	revisions  map[string]bool // that pods of this generation have
}

// daemonOf is that of a DaemonSet, nil for none, and its pods.
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

// outdated reports whether a pod has an older template. One from before a change that was undone
// has an older number and the same revision.
func (d daemon) outdated(p *corev1.Pod) bool {
	return d.generation != "" && p.Labels[templateGeneration] != d.generation && !d.revisions[p.Labels[appsv1.ControllerRevisionHashLabelKey]]
}
