// Package allocation decides which shards scrape which targets. It is pure: equal arguments in any
// order lead to the same result.
//
//	hash.go   the placement hash: the result of the relabel steps that servers use for sharding
//
//	for shard, of := range allocation.ByHash(job.Shards(), job.Outcomes(group)) { … }
//
// Package targets runs the relabel steps that the operator generates, hashmod included, for each
// shard; there is no second implementation of the hash.
//
// The placement weighted balances series instead of hashes, and keeps units on their shards:
//
//	weight.go   series of a unit, in steps that noise does not cross
//	plan.go     units, shards, and which unit is on which shard
//	score.go    the order of shards that a unit prefers
//	level.go    the mean load, without units that need a shard of their own
//	place.go    a shard for each unit that has none
//	fill.go     units for a shard that has too few, such as a new one
//	relieve.go  units off a shard that has too many
//	pace.go     how often units may move, with the clock as an argument
//
//	plan.SetShards(shards)
//	plan.Put(unit)
//	for _, move := range plan.Settle(pace.Limits(now, plan.Loads())) { … }
//
// The cost of a change depends only on the change: a new unit costs one hash for each shard, a removed
// one nothing. Only a fill and a relief, which are rare, visit all units.
//
// Keys and weights come from tenants, who can choose both: a relabeling may set __tmp_hash to any
// value. However a tenant chooses them,
//
//   - a unit belongs to one namespace, so that a key of another namespace gives no influence on its
//     targets: the same key in two namespaces is two units, which prefer the same shards;
//   - a unit is placed on a shard only if that has at most (1+ε) of the mean afterwards. If none has
//     room, it is placed on the least loaded one that is below this limit. Heavier units get a shard
//     that others leave, which does not increase the mean load of the others;
//   - a namespace has at most 8 plus 4/N of its units on one of N shards when a unit is placed or
//     moved there. Units with colliding keys that are small when they are placed and grow later add
//     at most that part of their series to one shard, until it is relieved;
//   - the weight that a label claims counts at most twice, and at least half, of the series that were
//     counted, so that claims change the load of a shard by a factor of two at most. Until there is a
//     count, it is up to 2^20 series; units that are placed meanwhile do not move others before a fill
//     or a relief.
package allocation
