package prometheus

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// notReaders says why a configuration in parts could not be read: wanted is about
// the pods that the owner asks for, live about those there are. Parts are written
// only when both are empty: a pod that starts, from whatever template, would wait
// forever.
func notReaders(owner *workload.Owner, cfg workload.Config, in Inputs) (wanted, live string) {
	if wanted = owner.PartsFault(); wanted != "" {
		return wanted, wanted
	}
	for _, name := range slices.Sorted(maps.Keys(in.StatefulSets)) {
		if s := in.StatefulSets[name]; s.DeletionTimestamp == nil {
			if fault := cfg.PartsFault(&s.Spec.Template.Spec); fault != "" {
				return "", fmt.Sprintf("StatefulSet %s: %s", name, fault)
			}
		}
	}
	if d := in.DaemonSet; d != nil && d.DeletionTimestamp == nil {
		if fault := cfg.PartsFault(&d.Spec.Template.Spec); fault != "" {
			return "", fmt.Sprintf("DaemonSet %s: %s", d.Name, fault)
		}
	}
	for _, p := range in.Pods {
		if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		if fault := cfg.PartsFault(&p.Spec); fault != "" {
			return "", fmt.Sprintf("pod %s: %s", p.Name, fault)
		}
	}
	return "", ""
}

// readsParts reports whether a template that exists shows the parts of the
// configuration to its pods. They keep what they have.
func (in *Inputs) readsParts() bool {
	for _, s := range in.StatefulSets {
		if workload.ReadsParts(&s.Spec.Template.Spec) {
			return true
		}
	}
	return in.DaemonSet != nil && workload.ReadsParts(&in.DaemonSet.Spec.Template.Spec)
}
