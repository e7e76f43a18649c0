package thanosruler

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs are the inputs of the pods besides their ThanosRuler.
type Inputs struct {
	// RuleConfigMaps are the names of the desired rule ConfigMaps.
	RuleConfigMaps []string
	// TLSSecrets is the number of TLS asset Secrets, at least one.
	TLSSecrets int
	// RemoteWrite is the content of the remote-write file.
	RemoteWrite []byte
	// Hash is the result of [Owner.InputHash]. If empty, the annotation is omitted.
	Hash string
}

// ruleConfigMaps returns the rule ConfigMaps that the pods mount, sorted. In the split
// layout there are at least ten, even if they do not exist, so that more rules do not
// require new pods.
func (o *Owner) ruleConfigMaps(in Inputs) []string {
	names := in.RuleConfigMaps
	if !o.single() {
		names = o.PadRuleConfigMaps(names)
	}
	return slices.Sorted(slices.Values(names))
}

// InputHash returns [workload.Base.HashOf]. While it equals the annotation of the live
// object, the StatefulSet need not be written.
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := workload.HashInputs{RuleConfigMaps: o.ruleConfigMaps(pod), TLSSecrets: pod.TLSSecrets, Files: o.remoteWriteHash(pod)}
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
	meta := o.podMeta(match, in)
	if err := o.CheckNames(meta.Labels[wellknown.LabelAppVersion], o.PrefixedName(), o.ruleConfigMaps(in)); err != nil {
		return nil, err
	}
	pod, err := o.pod(in, meta)
	if err != nil {
		return nil, err
	}
	return o.NewStatefulSet(o.PrefixedName(), match, in.Hash, pod).DeepCopy(), nil // shares no memory with the ThanosRuler
}
