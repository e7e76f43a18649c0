package promworkload

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// matchLabels returns spec.selector.matchLabels of one shard. shard is empty for a
// DaemonSet. The version is never included, because a selector is immutable.
func (b *Builder) matchLabels(shard string) map[string]string {
	labels := b.SelectorLabels()
	if shard != "" {
		labels[wellknown.LabelShard] = shard
	}
	return workload.Overlay(labels, b.Config.Labels)
}

// podMeta returns the metadata of the pod template. The user may name another default
// container.
func (b *Builder) podMeta(match map[string]string) metav1.ObjectMeta {
	out := b.PodMeta(match, workload.PodInputs{})
	if pm := b.common.PodMetadata; pm != nil {
		maps.Copy(out.Annotations, pm.Annotations)
	}
	return out
}
