package promconfig

import (
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// Labels that are hashed to select the shard.
const (
	addressLabel     = "__address__"
	paramTargetLabel = "__param_target"
)

// sharding holds the settings that determine which shard scrapes a target.
type sharding struct {
	// Shards is at least 1.
	Shards int32
	// Zones are the zones of topology sharding in the user's order; empty if it is disabled.
	Zones []string
	// Current adds steps that keep retained shards from scraping after scaling down.
	Current bool
	// PodTopology means that pods have the zone label of their node.
	PodTopology bool
}

// steps returns the relabel steps that assign each target to one shard by the hash of the
// label, or of __tmp_hash if the user has set it. Targets with __tmp_disable_sharding are
// kept on all shards. With topology sharding, targets without a zone are on no shard.
func (s sharding) steps(label string) []Step {
	var steps []Step
	if s.Current {
		steps = append(steps, s.currentShard()...)
	}
	modulus, number := s.Shards, variables.Shard
	if len(s.Zones) > 0 {
		steps = append(steps, s.zone()...)
		modulus, number = max(1, s.Shards/int32(len(s.Zones))), variables.InzoneShard
	}
	return append(steps,
		&copyStep{SourceLabels: []string{label, "__tmp_hash"}, TargetLabel: "__tmp_hash", Regex: "(.+);", Replacement: "$1", Action: "replace"},
		&copyStep{SourceLabels: []string{"__tmp_hash"}, TargetLabel: "__tmp_hash", Modulus: modulus, Action: "hashmod"},
		&keepStep{SourceLabels: []string{"__tmp_hash", "__tmp_disable_sharding"}, Regex: "$(" + number + ");|.+;.+", Action: "keep"},
	)
}

var currentShardStep = &copyStep{TargetLabel: "__tmp_current_shard", Replacement: "$(SHARD)", Action: "replace"}

// currentShard returns steps that keep targets only if the shard's ordinal is in use.
func (s sharding) currentShard() []Step {
	ordinals := make([]string, s.Shards)
	for i := range ordinals {
		ordinals[i] = strconv.Itoa(i)
	}
	return []Step{
		currentShardStep,
		&keepStep{SourceLabels: []string{"__tmp_current_shard"}, Regex: strings.Join(ordinals, "|"), Action: "keep"},
	}
}

// zone returns steps that keep the targets in the shard's zone. The zone comes from the
// EndpointSlice, falling back to the labels of the pod or, on older clusters, of the node.
func (s sharding) zone() []Step {
	object := "node"
	if s.PodTopology {
		object = "pod"
	}
	label := "__meta_kubernetes_" + object + "_label_topology_kubernetes_io_zone"
	present := "__meta_kubernetes_" + object + "_labelpresent_topology_kubernetes_io_zone"
	return []Step{
		&copyStep{SourceLabels: []string{"__meta_kubernetes_endpointslice_endpoint_zone", "__tmp_topology"},
			TargetLabel: "__tmp_topology", Regex: "(.+);", Replacement: "$1", Action: "replace"},
		&copyStep{SourceLabels: []string{label, present, "__tmp_topology"},
			TargetLabel: "__tmp_topology", Regex: "(.+);true;", Replacement: "$1", Action: "replace"},
		&keepStep{SourceLabels: []string{"__tmp_topology", "__tmp_disable_sharding"}, Regex: "$(TOPOLOGY_ZONE);|.+;.+", Action: "keep"},
	}
}

// shardZone returns the zone of a shard and the shard's position within that zone; zone
// is "" if there are no zones.
func shardZone(zones []string, shard int32) (zone string, position int32) {
	if len(zones) == 0 {
		return "", shard
	}
	n := int32(len(zones))
	return zones[shard%n], shard / n
}

// shardZone returns the zone of a shard of the workload and its position within the zone.
func (s *Settings) ShardZone(shard int32) (zone string, position int32) {
	return shardZone(s.data.Sharding.Zones, shard)
}

// ShardVariables returns, for each shard in use, the variables that its pods substitute in the
// document, by the name inside "$(...)". For a DaemonSet, it returns one entry without variables.
func (s *Settings) ShardVariables() []map[string]string {
	if s.data.DaemonSet {
		return []map[string]string{nil}
	}
	out := make([]map[string]string, s.data.Sharding.Shards)
	for i := range out {
		out[i] = map[string]string{variables.Shard: strconv.Itoa(i)}
		if zone, position := shardZone(s.data.Sharding.Zones, int32(i)); zone != "" {
			out[i][variables.TopologyZone], out[i][variables.InzoneShard] = zone, strconv.Itoa(int(position))
		}
	}
	return out
}
