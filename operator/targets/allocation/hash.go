package allocation

import "github.com/firekeeper-dev/firekeeper/operator/targets"

// Placement has the targets of a group by shard.
type Placement struct {
	// Shards has for each shard the indices of its targets in the group, in order. A target with
	// __tmp_disable_sharding is on all shards.
	Shards [][]int
	// Unknown are the indices of the targets whose relabel steps are too expensive to evaluate. They
	// are on no shard.
	Unknown []int
}

// ByHash places the targets of a group like the servers that discover them and hash them themselves. outcomes are those
// of the group, in order.
//
// It neither applies targetLimit nor drops duplicates of targets in other groups, because servers do both themselves.
func ByHash(shards int, outcomes []targets.Outcome) Placement {
	out := Placement{Shards: make([][]int, shards)}
	for i, o := range outcomes {
		switch o.State {
		case targets.Kept:
			for _, shard := range o.Shards {
				out.Shards[shard] = append(out.Shards[shard], i)
			}
		case targets.Unknown:
			out.Unknown = append(out.Unknown, i)
		}
	}
	return out
}
