package promworkload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// promconfig and the pods have the same shard variables.
func TestShardVariables(t *testing.T) {
	topology := &v1.ShardingStrategy{Mode: v1.TopologyShardingStrategyMode, Topology: &v1.ShardingTopology{Values: []string{"a", "b"}}}
	for name, fields := range map[string]v1.CommonPrometheusFields{
		"one shard": {}, "three": {Shards: new(int32(3))}, "zones": {Shards: new(int32(4)), ShardingStrategy: topology},
	} {
		p := &v1.Prometheus{Spec: v1.PrometheusSpec{CommonPrometheusFields: fields}}
		s, err := promconfig.ServerSettings(p, promconfig.Capabilities{TopologySharding: true})
		if err != nil {
			t.Fatal(err)
		}
		cfg := workload.Config{TopologySharding: true}
		owner := ForServer(p, cfg)
		for shard, want := range s.ShardVariables() {
			got := map[string]string{}
			for _, e := range owner.reloaderEnv(int32(shard)) {
				if !variables.Provided([]byte(e.Name)) {
					t.Errorf("%s: objects may not use %s, which is set", name, e.Name)
				}
				if e.ValueFrom == nil {
					got[e.Name] = e.Value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, shard %d: %s", name, shard, diff)
			}
		}
	}
}
