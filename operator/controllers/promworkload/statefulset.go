package promworkload

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Inputs is what a pod depends on besides its owner.
type Inputs struct {
	// Shard is the number of the shard, from 0. A DaemonSet has only 0.
	Shard int32
	// RuleConfigMaps are the names of the rule ConfigMaps, padded
	// ([workload.Base.PadRuleConfigMaps]). Agents ignore them.
	RuleConfigMaps []string
	// TLSSecrets is the number of TLS asset Secrets; there is always one.
	TLSSecrets int
	// ConfigInParts says that the pod must see the parts of the configuration. In
	// the split layout it does so anyway when its reloaders read parts.
	ConfigInParts bool
	// Hash is [Owner.InputHash]; empty leaves the annotation out.
	Hash string
}

// StatefulSet is one shard.
//
// Errors: a version, image or volume name that does not parse, a name of the owner
// that leads to names the API server refuses, additional
// arguments the operator sets itself, incomplete web TLS, a container patch that
// does not merge.
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
	return sts.DeepCopy(), nil // shares nothing with the owner or other shards
}

// check is everything that can be wrong before a pod is built.
func (o *Owner) check() error {
	if o.err != nil {
		return o.err
	}
	if err := v1.CheckShards(o.common.Shards); err != nil {
		return fmt.Errorf("spec.%w", err)
	}
	return o.webConfig().Check()
}
