package targets

import (
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// Placement decides on which shard a target is.
type Placement struct {
	// Key is the label __tmp_hash, or else the address. Targets of a namespace with the same key are on the
	// same shard.
	Key string
	// Zone limits the target to shards of the zone; empty without topology sharding.
	Zone string
	// Everywhere is true if the target is on all shards, of all zones.
	Everywhere bool
	// Claim is the number of series in the label __tmp_shard_weight; nil if there is none.
	Claim *uint64
}

// Placement returns the placement of a target. ok is false if shards do not divide the targets of the job
// by hash, or the target is not scraped.
func (r Result) Placement(i int) (p Placement, ok bool) {
	row := &r.Rows[i]
	if r.job.hashed < 0 || row.State != Kept && row.State != OtherShard && row.State != OverLimit {
		return p, false
	}
	lb, c := labels.NewBuilder(labels.EmptyLabels()), r.job.shards[row.on]
	populate(lb, c, row.own, row.shared)
	for at, step := range c.RelabelConfigs[:r.job.hashed] {
		if step.Action == relabel.Keep && r.job.Origins[at].Path == promconfig.ShardingOrigin {
			continue // it keeps what other shards do not
		}
		if !relabel.ProcessBuilder(lb, step) {
			return p, false
		}
	}
	p = Placement{Key: lb.Get(hashLabel), Zone: lb.Get("__tmp_topology"), Everywhere: lb.Get("__tmp_disable_sharding") != ""}
	if claim, err := strconv.ParseUint(lb.Get("__tmp_shard_weight"), 10, 64); err == nil {
		p.Claim = &claim
	}
	return p, true
}

// hashLabel has what is hashed.
const hashLabel = "__tmp_hash"

// hashStep returns the index of the step of the operator that hashes; -1 if there is none.
func (j *Job) hashStep() int {
	for i, step := range j.shards[0].RelabelConfigs {
		if step.Action == relabel.HashMod && step.TargetLabel == hashLabel && j.Origins[i].Path == promconfig.ShardingOrigin {
			return i
		}
	}
	return -1
}

// Hash returns the hash of a key of [Result.Placement], modulo a number of shards.
func (r Result) Hash(key string, shards int) int {
	lb := labels.NewBuilder(labels.FromStrings(hashLabel, key))
	step := *r.job.shards[0].RelabelConfigs[r.job.hashed]
	step.Modulus = uint64(shards)
	relabel.ProcessBuilder(lb, &step)
	hash, _ := strconv.Atoi(lb.Get(hashLabel)) // the step writes a number
	return hash
}
