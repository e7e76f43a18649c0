package promworkload

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// InputHash returns [workload.Base.InputHash] of one shard.
func (b *Builder) InputHash(live *appsv1.StatefulSet, in workload.PodInputs) (string, error) {
	in.RuleConfigMaps = b.ruleConfigMaps(in)
	return b.Base.InputHash(live, in)
}

// StatefulSet returns the StatefulSet of one shard. in.RuleConfigMaps are padded
// ([workload.Base.PadRuleConfigMaps]); agents ignore them.
//
// Errors: a version, image or volume name that does not parse; a name that results in
// names the API server rejects; additional arguments that the operator sets itself;
// incomplete web TLS; a container patch that does not merge.
func (b *Builder) StatefulSet(in workload.PodInputs) (*appsv1.StatefulSet, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	in.RuleConfigMaps = b.ruleConfigMaps(in)
	match := b.matchLabels(strconv.Itoa(int(in.Shard)))
	pod, err := b.pod(in, match)
	if err != nil {
		return nil, err
	}
	sts, err := b.StatefulSetOf(b.shardName(in.Shard), match, in, b.podMeta(match), pod)
	if err != nil {
		return nil, err
	}
	sts.Spec.PersistentVolumeClaimRetentionPolicy = b.common.PersistentVolumeClaimRetentionPolicy.DeepCopy()
	return sts, nil
}
