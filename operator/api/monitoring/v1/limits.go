package v1

import "fmt"

// MaxShards bounds spec.shards. Each shard is a StatefulSet, and each job of the
// configuration names all of them, so that a typo would otherwise
// exhaust the memory of the operator.
const MaxShards = 1000

// CheckShards reports a number of shards that is not supported; nil is fine.
func CheckShards(shards *int32) error {
	if shards != nil && *shards > MaxShards {
		return fmt.Errorf("%d is more than %d", *shards, MaxShards)
	}
	return nil
}
