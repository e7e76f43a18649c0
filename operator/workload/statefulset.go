package workload

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Inputs is what a pod depends on besides its owner.
type Inputs struct {
	// Shard is the number of the shard, from 0. A DaemonSet has only 0.
	Shard int32
	// RuleConfigMaps are the names of the rule ConfigMaps, padded
	// ([Owner.PadRuleConfigMaps]). Agents ignore them.
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
	sts := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: o.workloadMeta(o.shardName(in.Shard), match, in.Hash),
		Spec: appsv1.StatefulSetSpec{
			ServiceName:                          o.ServiceName(),
			Replicas:                             new(o.Replicas()),
			PodManagementPolicy:                  o.podManagement(),
			UpdateStrategy:                       o.updateStrategy(),
			MinReadySeconds:                      o.minReadySeconds(),
			Selector:                             &metav1.LabelSelector{MatchLabels: match},
			PersistentVolumeClaimRetentionPolicy: o.common.PersistentVolumeClaimRetentionPolicy,
			Template:                             pod,
			VolumeClaimTemplates:                 o.claimTemplates(),
		},
	}
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

// podManagement cannot be changed on a StatefulSet that exists.
func (o *Owner) podManagement() appsv1.PodManagementPolicyType {
	if o.common.PodManagementPolicy == "" {
		return appsv1.ParallelPodManagement
	}
	return appsv1.PodManagementPolicyType(o.common.PodManagementPolicy)
}

func (o *Owner) updateStrategy() appsv1.StatefulSetUpdateStrategy {
	u := o.common.UpdateStrategy
	if u == nil {
		return appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}
	}
	out := appsv1.StatefulSetUpdateStrategy{Type: appsv1.StatefulSetUpdateStrategyType(u.Type)}
	if u.RollingUpdate != nil {
		out.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: u.RollingUpdate.MaxUnavailable}
	}
	return out
}

func (o *Owner) minReadySeconds() int32 {
	if o.common.MinReadySeconds == nil {
		return 0
	}
	return *o.common.MinReadySeconds
}
