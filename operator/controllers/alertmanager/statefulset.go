package alertmanager

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs is what the pods depend on besides their owner.
type Inputs struct {
	// TLSSecrets is the number of TLS asset Secrets; there is always one.
	TLSSecrets int
	// ConfigInParts says that the pod must see the parts of the configuration. In the
	// split layout it does so anyway when its reloaders read parts.
	ConfigInParts bool
	// Hash is [Owner.InputHash]; empty leaves the annotation out.
	Hash string
}

// InputHash is [workload.Base.HashOf]: as long as it is equal to the annotation of the
// live object, the StatefulSet need not be written.
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := workload.HashInputs{TLSSecrets: pod.TLSSecrets, ConfigInParts: pod.ConfigInParts && !o.PartsAhead()}
	in.HTTP2 = o.webConfig().HTTP2()
	return o.HashOf(live, in)
}

// StatefulSet runs the pods.
//
// Errors: those of [Owner.Check], an image or volume name that does not parse, a name
// of the owner that leads to names the API server refuses, additional arguments the
// operator sets itself, a container patch that does not merge.
func (o *Owner) StatefulSet(in Inputs) (*appsv1.StatefulSet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	match := o.matchLabels()
	meta := o.podMeta(match)
	if err := o.CheckNames(meta.Labels[wellknown.LabelAppVersion], o.PrefixedName(), nil); err != nil {
		return nil, err
	}
	pod, err := o.pod(in, meta)
	if err != nil {
		return nil, err
	}
	sts := o.NewStatefulSet(o.PrefixedName(), match, in.Hash, pod)
	sts.Spec.PersistentVolumeClaimRetentionPolicy = o.spec.PersistentVolumeClaimRetentionPolicy
	return sts.DeepCopy(), nil // shares nothing with the owner
}
