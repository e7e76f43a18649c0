package thanosruler

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs is what the pods depend on besides their owner.
type Inputs struct {
	// RuleConfigMaps are the names of the rule ConfigMaps that should exist.
	RuleConfigMaps []string
	// TLSSecrets is the number of TLS asset Secrets; there is always one.
	TLSSecrets int
	// RemoteWrite is the content of the file of remote write.
	RemoteWrite []byte
	// Hash is [Owner.InputHash]; empty leaves the annotation out.
	Hash string
}

// ruleConfigMaps are those that the pods mount, sorted. In the split layout there are
// at least ten, there or not, so that rules can grow into them without a new pod.
func (o *Owner) ruleConfigMaps(in Inputs) []string {
	names := in.RuleConfigMaps
	if !o.single() {
		names = o.PadRuleConfigMaps(names)
	}
	return slices.Sorted(slices.Values(names))
}

// InputHash is [workload.Base.HashOf]: as long as it is equal to the annotation of the
// live object, the StatefulSet need not be written.
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := workload.HashInputs{RuleConfigMaps: o.ruleConfigMaps(pod), TLSSecrets: pod.TLSSecrets, Files: o.remoteWriteHash(pod)}
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
	meta := o.podMeta(match, in)
	if err := o.CheckNames(meta.Labels[wellknown.LabelAppVersion], o.PrefixedName(), o.ruleConfigMaps(in)); err != nil {
		return nil, err
	}
	pod, err := o.pod(in, meta)
	if err != nil {
		return nil, err
	}
	return o.NewStatefulSet(o.PrefixedName(), match, in.Hash, pod).DeepCopy(), nil // shares nothing with the owner
}
