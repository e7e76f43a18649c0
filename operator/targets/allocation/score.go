package allocation

import "github.com/cespare/xxhash/v2"

// keyHash returns the hash of a placement key. It does not contain the namespace, so that units with
// the same key, such as the same address, prefer the same shards.
func keyHash(key string) uint64 { return xxhash.Sum64String(key) }

// shardHash returns the hash of the name of a shard.
func shardHash(name string) uint64 { return xxhash.Sum64String(name) }

// score returns how well a shard suits a unit: the lowest is best. It is the u of weighted rendezvous
// hashing with the score -ln(u)/capacity, as an integer: all shards of a workload have pods of the
// same size, so the capacity is the same and the order is that of u. Changing the shards does not
// change the order of the others. For one shard, different hashes have different scores.
func score(unit, shard uint64) uint64 {
	x := unit ^ shard
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}
