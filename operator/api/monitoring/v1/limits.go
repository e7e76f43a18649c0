package v1

import "fmt"

const (
	// MaxShards bounds spec.shards. Each shard is a StatefulSet, and each job of the
	// configuration names all of them, so that a typo would otherwise
	// exhaust the memory of the operator.
	MaxShards = 1000
	// MaxReplicas bounds spec.replicas. The StatefulSet controller allocates memory for each pod
	// before it creates the first one: 17 GB for the largest number, which ends
	// kube-controller-manager and with it the cluster's control loops.
	MaxReplicas = 1000
)

// CheckShards reports a number of shards that is not supported; nil is fine.
func CheckShards(shards *int32) error { return atMost(MaxShards, shards) }

// CheckReplicas reports a number of replicas that is not supported; nil is fine.
func CheckReplicas(replicas *int32) error { return atMost(MaxReplicas, replicas) }

func atMost(most int32, n *int32) error {
	if n != nil && *n > most {
		return fmt.Errorf("%d is more than %d", *n, most)
	}
	return nil
}
