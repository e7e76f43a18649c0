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

// NotReaders returns why a configuration in parts could not be read: wanted covers the pods that
// the workload specifies, any covers those and the existing ones. Parts are written only if both
// are empty; otherwise a pod that starts from an older template would wait forever. Pods of
// retained StatefulSets do not count: their template never changes.
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

// retained reports whether a pod belongs to a retained StatefulSet.
func retained(live engine.Live, pod *corev1.Pod) bool {
	by := metav1.GetControllerOf(pod)
	return by != nil && by.Kind == "StatefulSet" && live.Retained[by.Name]
}

// ReadParts reports whether an existing template mounts the parts of the configuration. Such
// templates keep their volume.
func ReadParts(b *workload.Base, live engine.Live) bool {
	for _, s := range live.StatefulSets {
		if b.ReadsParts(&s.Spec.Template.Spec) {
			return true
		}
	}
	return live.DaemonSet != nil && b.ReadsParts(&live.DaemonSet.Spec.Template.Spec)
}
