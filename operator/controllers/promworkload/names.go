package promworkload

import "fmt"

// thanosHTTPClientSecretName returns the name of the Secret with the configuration that
// the Thanos sidecar uses to connect to Prometheus.
func (b *Builder) thanosHTTPClientSecretName() string {
	return b.PrefixedName() + "-" + thanosClientVolume
}

// ShardNames returns the names of the desired StatefulSets, in order.
func (b *Builder) ShardNames() []string {
	names := make([]string, b.shards())
	for i := range names {
		names[i] = b.shardName(int32(i))
	}
	return names
}

func (b *Builder) shardName(shard int32) string {
	if shard == 0 {
		return b.PrefixedName()
	}
	return fmt.Sprintf("%s-shard-%d", b.PrefixedName(), shard)
}
