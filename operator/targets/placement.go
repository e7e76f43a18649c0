package targets

import (
	"reflect"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
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
	// Interval is the scrape interval, as far as the steps before the hash determine it.
	Interval time.Duration
	// Claim is the number of series in the label __tmp_shard_weight; nil if there is none.
	Claim *uint64
}

// Placement returns the placement of a target. ok is false if shards do not divide the targets of the job
// by hash, or the target is not scraped.
func (r Result) Placement(i int) (p Placement, ok bool) {
	row := &r.Rows[i]
	if row.State != Kept && row.State != OtherShard && row.State != OverLimit {
		return p, false
	}
	return r.job.place(row.own, row.shared, row.on)
}

// Place returns the placement of a target of a group that some shard scrapes. ok is false if it has to be on the
// shards of its outcome: the operator does not divide the targets of the job, or its configuration differs between shards
// in other ways.
func (j *Job) Place(own, shared model.LabelSet, o Outcome) (p Placement, ok bool) {
	if o.State != Kept || !j.movable {
		return p, false
	}
	return j.place(own, shared, o.Shards[0])
}

// place returns the placement of a target that a shard scrapes, or would with another hash.
func (j *Job) place(own, shared model.LabelSet, on int) (p Placement, ok bool) {
	if j.hashed < 0 {
		return p, false
	}
	lb, c := labels.NewBuilder(labels.EmptyLabels()), j.shards[on]
	populate(lb, c, own, shared)
	for at, step := range c.RelabelConfigs[:j.hashed] {
		if step.Action == relabel.Keep && j.Origins[at].Path == promconfig.ShardingOrigin {
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
	if interval, err := model.ParseDuration(lb.Get(model.ScrapeIntervalLabel)); err == nil {
		p.Interval = time.Duration(interval)
	}
	return p, true
}

// isMovable reports whether every shard can scrape the targets of every other shard: shards only differ in the steps of
// the operator that divide targets among them.
func (j *Job) isMovable() bool {
	if j.hashed < 0 || j.SDsDiffer {
		return false
	}
	first := j.shards[0]
	for _, other := range j.shards[1:] {
		if !sameSeeds(first, other) {
			return false
		}
		for i, step := range first.RelabelConfigs {
			if j.Origins[i].Path != promconfig.ShardingOrigin && !reflect.DeepEqual(stepKey(step), stepKey(other.RelabelConfigs[i])) {
				return false
			}
		}
	}
	return true
}

// hashLabel is the label with the value to hash.
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
