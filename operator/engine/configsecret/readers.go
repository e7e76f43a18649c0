package configsecret

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// NotReaders says why a configuration in parts could not be read: wanted is about the
// pods that the workload asks for, any about those and the ones there are. Parts are
// written only when both are empty: a pod that starts, from whatever template, would
// wait forever. Those of retained StatefulSets do not count: their template never changes.
func NotReaders(b *workload.Base, live engine.Live) (wanted, any string) {
	if wanted = b.PartsFault(); wanted != "" {
		return wanted, wanted
	}
	for _, name := range slices.Sorted(maps.Keys(live.StatefulSets)) {
		if s := live.StatefulSets[name]; s.DeletionTimestamp == nil && !live.Retained[name] {
			if fault := b.PartsFaultOf(&s.Spec.Template.Spec); fault != "" {
				return "", fmt.Sprintf("StatefulSet %s: %s", name, fault)
			}
		}
	}
	if d := live.DaemonSet; d != nil && d.DeletionTimestamp == nil {
		if fault := b.PartsFaultOf(&d.Spec.Template.Spec); fault != "" {
			return "", fmt.Sprintf("DaemonSet %s: %s", d.Name, fault)
		}
	}
	for _, p := range live.Pods {
		if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || retained(live, p) {
			continue
		}
		if fault := b.PartsFaultOf(&p.Spec); fault != "" {
			return "", fmt.Sprintf("pod %s: %s", p.Name, fault)
		}
	}
	return "", ""
}

// retained reports whether a pod is one of a retained StatefulSet.
func retained(live engine.Live, pod *corev1.Pod) bool {
	by := metav1.GetControllerOf(pod)
	return by != nil && by.Kind == "StatefulSet" && live.Retained[by.Name]
}

// ReadParts reports whether a template that exists shows the parts of the
// configuration to its pods. They keep what they have.
func ReadParts(b *workload.Base, live engine.Live) bool {
	for _, s := range live.StatefulSets {
		if b.ReadsParts(&s.Spec.Template.Spec) {
			return true
		}
	}
	return live.DaemonSet != nil && b.ReadsParts(&live.DaemonSet.Spec.Template.Spec)
}
