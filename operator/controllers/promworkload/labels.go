package promworkload

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// matchLabels returns spec.selector.matchLabels of one shard. shard is empty for a
// DaemonSet. The version is never included, because a selector is immutable.
func (o *Owner) matchLabels(shard string) map[string]string {
	labels := o.SelectorLabels()
	if shard != "" {
		labels[wellknown.LabelShard] = shard
	}
	return workload.Overlay(labels, o.Config.Labels)
}

// podMeta returns the metadata of the pod template.
func (o *Owner) podMeta(match map[string]string) metav1.ObjectMeta {
	labels := map[string]string{wellknown.LabelAppVersion: o.version.String()}
	annotations := map[string]string{wellknown.AnnotationDefaultContainer: containerPrometheus}
	if pm := o.common.PodMetadata; pm != nil {
		maps.Copy(labels, pm.Labels)
		maps.Copy(annotations, pm.Annotations)
	}
	return metav1.ObjectMeta{Labels: workload.Overlay(labels, match), Annotations: annotations}
}
