package alertmanager

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs are the inputs of the pods besides their Alertmanager.
type Inputs struct {
	// TLSSecrets is the number of TLS asset Secrets, at least one.
	TLSSecrets int
	// ConfigInParts is true if the pod must mount the configuration in parts. In the
	// split layout it always does if its reloaders support parts.
	ConfigInParts bool
	// Hash is the result of [Owner.InputHash]. If empty, the annotation is omitted.
	Hash string
}

// InputHash returns [workload.Base.HashOf]. While it equals the annotation of the live
// object, the StatefulSet need not be written.
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := workload.HashInputs{TLSSecrets: pod.TLSSecrets, ConfigInParts: pod.ConfigInParts && !o.PartsAhead()}
	in.HTTP2 = o.webConfig().HTTP2()
	return o.HashOf(live, in)
}

// StatefulSet returns the StatefulSet that runs the pods.
//
// Errors: those of [Owner.Check]; an image or volume name that does not parse; a name
// that results in names the API server rejects; additional arguments that the operator
// sets itself; a container patch that does not merge.
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
	return sts.DeepCopy(), nil // shares no memory with the Alertmanager
}
