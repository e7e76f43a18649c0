package promworkload

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// ThanosHTTPClientSecretName returns the name of the Secret with the configuration that
// the Thanos sidecar uses to connect to Prometheus.
func (o *Owner) ThanosHTTPClientSecretName() string {
	return o.PrefixedName() + "-" + thanosClientVolume
}

// ShardNames returns the names of the desired StatefulSets, in order.
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

// checkNames calls [workload.Base.CheckNames] for one shard or for a DaemonSet.
func (o *Owner) checkNames(in Inputs, match map[string]string) error {
	set := ""
	if !o.daemonSet {
		set = o.shardName(in.Shard)
	}
	return o.CheckNames(o.podMeta(match).Labels[wellknown.LabelAppVersion], set, o.ruleConfigMaps(in))
}
