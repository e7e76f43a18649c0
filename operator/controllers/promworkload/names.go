package promworkload

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// ThanosHTTPClientSecretName is the Secret with which the Thanos sidecar talks to
// Prometheus.
func (o *Owner) ThanosHTTPClientSecretName() string {
	return o.PrefixedName() + "-" + thanosClientVolume
}

// ShardNames are the names of the StatefulSets that should exist, in order.
func (o *Owner) ShardNames() []string {
	names := make([]string, o.Shards())
	for i := range names {
		names[i] = o.shardName(int32(i))
	}
	return names
}

func (o *Owner) shardName(shard int32) string {
	if shard == 0 {
		return o.PrefixedName()
	}
	return fmt.Sprintf("%s-shard-%d", o.PrefixedName(), shard)
}

// checkNames is [workload.Base.CheckNames] of one shard, or of a DaemonSet.
func (o *Owner) checkNames(in Inputs, match map[string]string) error {
	set := ""
	if !o.daemonSet {
		set = o.shardName(in.Shard)
	}
	return o.CheckNames(o.podMeta(match).Labels[wellknown.LabelAppVersion], set, o.ruleConfigMaps(in))
}
