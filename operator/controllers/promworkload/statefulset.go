package promworkload

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Inputs are the inputs of a pod besides its workload.
type Inputs struct {
	// Shard is the number of the shard, from 0. A DaemonSet has only shard 0.
	Shard int32
	// RuleConfigMaps are the names of the rule ConfigMaps, padded
	// ([workload.Base.PadRuleConfigMaps]). Agents ignore them.
	RuleConfigMaps []string
	// TLSSecrets is the number of TLS asset Secrets, at least one.
	TLSSecrets int
	// ConfigInParts is true if the pod must mount the configuration in parts. In the
	// split layout it always does if its reloaders support parts.
	ConfigInParts bool
	// Hash is the result of [Owner.InputHash]. If empty, the annotation is omitted.
	Hash string
}

// StatefulSet returns the StatefulSet of one shard.
//
// Errors: a version, image or volume name that does not parse; a name that results in
// names the API server rejects; additional arguments that the operator sets itself;
// incomplete web TLS; a container patch that does not merge.
func (o *Owner) StatefulSet(in Inputs) (*appsv1.StatefulSet, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	match := o.matchLabels(strconv.Itoa(int(in.Shard)))
	if err := o.checkNames(in, match); err != nil {
		return nil, err
	}
	pod, err := o.pod(in, match)
	if err != nil {
		return nil, err
	}
	sts := o.NewStatefulSet(o.shardName(in.Shard), match, in.Hash, pod)
	sts.Spec.PersistentVolumeClaimRetentionPolicy = o.common.PersistentVolumeClaimRetentionPolicy
	return sts.DeepCopy(), nil // shares no memory with the workload or other shards
}

// check returns the errors that can be detected before a pod is built.
func (o *Owner) check() error {
	if o.err != nil {
		return o.err
	}
	if err := v1.CheckShards(o.common.Shards); err != nil {
		return fmt.Errorf("spec.%w", err)
	}
	return o.webConfig().Check()
}
