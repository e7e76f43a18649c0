package promconfig

import (
	"strconv"
	"strings"
)

// Labels whose hash decides about the shard.
const (
	addressLabel     = "__address__"
	paramTargetLabel = "__param_target"
)

// sharding is what decides which shard scrapes a target.
type sharding struct {
	// Shards is at least 1.
	Shards int32
	// Zones of topology sharding in the user's order; empty when it is off.
	Zones []string
	// Current adds the steps that make retained, scaled-down shards scrape nothing.
	Current bool
	// PodTopology is true when pods carry the zone of their node.
	PodTopology bool
}

// steps returns the relabel steps that leave each target to one shard. The
// hash of the label decides unless the user has set __tmp_hash; targets with
// __tmp_disable_sharding stay on all shards. Zone-less targets are on no shard
// while topology sharding is on.
func (s sharding) steps(label string) []Step {
	var steps []Step
	if s.Current {
		steps = append(steps, s.currentShard()...)
	}
	modulus, variable := s.Shards, "SHARD"
	if len(s.Zones) > 0 {
		steps = append(steps, s.zone()...)
		modulus, variable = max(1, s.Shards/int32(len(s.Zones))), "INZONE_SHARD"
	}
	return append(steps,
		&copyStep{SourceLabels: []string{label, "__tmp_hash"}, TargetLabel: "__tmp_hash", Regex: "(.+);", Replacement: "$1", Action: "replace"},
		&copyStep{SourceLabels: []string{"__tmp_hash"}, TargetLabel: "__tmp_hash", Modulus: modulus, Action: "hashmod"},
		&keepStep{SourceLabels: []string{"__tmp_hash", "__tmp_disable_sharding"}, Regex: "$(" + variable + ");|.+;.+", Action: "keep"},
	)
}

// currentShard keeps targets only while the shard's ordinal is in use.
func (s sharding) currentShard() []Step {
	ordinals := make([]string, s.Shards)
	for i := range ordinals {
		ordinals[i] = strconv.Itoa(i)
	}
	return []Step{
		&copyStep{TargetLabel: "__tmp_current_shard", Replacement: "$(SHARD)", Action: "replace"},
		&keepStep{SourceLabels: []string{"__tmp_current_shard"}, Regex: strings.Join(ordinals, "|"), Action: "keep"},
	}
}

// zone keeps targets of the shard's own zone. The zone comes from the
// EndpointSlice, else from the pod's or, on older clusters, the node's labels.
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

// ShardZone is the zone a shard works for and its position among the zone's
// shards; zone is "" when there are no zones.
func ShardZone(zones []string, shard int32) (zone string, position int32) {
	if len(zones) == 0 {
		return "", shard
	}
	n := int32(len(zones))
	return zones[shard%n], shard / n
}

// ShardVariables are what the pods of each shard replace in the document, by the name
// inside of "$(…)"; of the shards that are in use. Without shards of its own, as in a
// DaemonSet, there is one without variables.
func (s *Settings) ShardVariables() []map[string]string {
	if s.data.DaemonSet {
		return []map[string]string{nil}
	}
	out := make([]map[string]string, s.data.Sharding.Shards)
	for i := range out {
		out[i] = map[string]string{"SHARD": strconv.Itoa(i)}
		if zone, position := ShardZone(s.data.Sharding.Zones, int32(i)); zone != "" {
			out[i]["TOPOLOGY_ZONE"], out[i]["INZONE_SHARD"] = zone, strconv.Itoa(int(position))
		}
	}
	return out
}
