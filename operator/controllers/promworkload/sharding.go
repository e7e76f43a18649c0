package promworkload

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// shards returns the desired number of StatefulSets, from 1 to [v1.MaxShards]. A workload
// with more shards is rejected.
func (b *Builder) shards() int32 {
	if b.common.Shards == nil {
		return 1
	}
	return min(max(1, *b.common.Shards), v1.MaxShards)
}

// zones returns the zones over which shards are spread. It is empty without topology
// sharding.
func (b *Builder) zones() []string {
	s := b.common.ShardingStrategy
	if !b.Config.TopologySharding || s == nil || s.Mode != v1.TopologyShardingStrategyMode || s.Topology == nil {
		return nil
	}
	return s.Topology.Values
}

// zone returns the zone of a shard and its number within the zone. The zones of shards 0
// to 3 over a and b are a, b, a, b, and their numbers are 0, 0, 1, 1.
func (b *Builder) zone(shard int32) (name string, number int32, ok bool) {
	zones := b.zones()
	n := int32(len(zones))
	if n == 0 {
		return "", 0, false
	}
	return zones[shard%n], shard / n, true
}

// reloaderEnv returns the variables that the configuration refers to.
func (b *Builder) reloaderEnv(shard int32) []corev1.EnvVar {
	env := []corev1.EnvVar{workload.FieldVar(variables.PodName, "metadata.name")}
	if b.daemonSet {
		env = append(env, workload.FieldVar(variables.NodeName, "spec.nodeName"))
	}
	env = append(env, corev1.EnvVar{Name: variables.Shard, Value: strconv.Itoa(int(shard))})
	if zone, number, ok := b.zone(shard); ok {
		env = append(env,
			corev1.EnvVar{Name: variables.TopologyZone, Value: zone},
			corev1.EnvVar{Name: variables.InzoneShard, Value: strconv.Itoa(int(number))})
	}
	return env
}

// nodeSelector returns the user's node selector with the zone of the shard added.
func (b *Builder) nodeSelector(shard int32) map[string]string {
	zone, _, ok := b.zone(shard)
	if !ok {
		return b.common.NodeSelector
	}
	return workload.Overlay(b.common.NodeSelector, map[string]string{corev1.LabelTopologyZone: zone})
}

// spreadConstraints returns the user's constraints, with the pod labels added where
// requested. match is the selector of the StatefulSet.
func spreadConstraints(in []v1.TopologySpreadConstraint, match map[string]string) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for _, c := range in {
		constraint := c.TopologySpreadConstraint
		if c.AdditionalLabelSelectors != nil {
			own := workload.Overlay(match)
			if *c.AdditionalLabelSelectors == v1.ResourceNameLabelSelector {
				delete(own, wellknown.LabelShard)
			}
			selector := &metav1.LabelSelector{}
			if constraint.LabelSelector != nil {
				selector = constraint.LabelSelector.DeepCopy()
			}
			selector.MatchLabels = workload.Overlay(selector.MatchLabels, own)
			constraint.LabelSelector = selector
		}
		out = append(out, constraint)
	}
	return out
}
