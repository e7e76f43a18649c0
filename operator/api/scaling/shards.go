package scaling

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Limits bound the number of shards of a workload.
type Limits struct {
	// Floor is spec.shards, at least 1; Max is at least Floor.
	Floor, Max int
	// SeriesPerShard is how many series a shard should have at most.
	SeriesPerShard uint64
}

// LimitsOf returns the limits for a workload; ok is false without autoscaling.
func LimitsOf(annotations map[string]string, shards *int32) (out Limits, ok bool) {
	if annotations[wellknown.AnnotationMaxShards] == "" {
		return Limits{}, false // without reading the others
	}
	_, division, err := wellknown.ParseSharding(annotations)
	if err != nil || !division.Weighted || division.Autoscaling.MaxShards == 0 {
		return Limits{}, false
	}
	out = Limits{Floor: 1, SeriesPerShard: division.Autoscaling.SeriesPerShard}
	if shards != nil {
		out.Floor = max(1, int(*shards))
	}
	out.Max = max(out.Floor, division.Autoscaling.MaxShards)
	return out, true
}

// Clamp returns the allowed number of shards that is nearest to n. has is the number that the workload has: it stays if the
// limit is lowered, until these shards are drained.
func (l Limits) Clamp(n, has int) int {
	return min(max(n, l.Floor), max(l.Max, min(has, v1.MaxShards)))
}
