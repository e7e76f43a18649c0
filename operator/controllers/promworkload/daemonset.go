package promworkload

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// UsesDaemonSet reports whether the workload is an agent that runs on every node. Then it
// has a DaemonSet instead of StatefulSets, and no Service.
func (b *Builder) UsesDaemonSet() bool { return b.daemonSet }

// DaemonSet returns the DaemonSet of an agent. Shard and Hash of the inputs are ignored:
// the DaemonSet is written whenever it differs.
//
// Errors: those of [Builder.StatefulSet]; the workload does not use a DaemonSet.
func (b *Builder) DaemonSet(in workload.PodInputs) (*appsv1.DaemonSet, error) {
	if !b.daemonSet {
		return nil, faults.At("spec.mode", errors.New("not a DaemonSet"))
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	in.Shard = 0
	match := b.matchLabels("")
	meta := b.podMeta(match)
	if err := b.CheckNames(meta.Labels[wellknown.LabelAppVersion], "", b.ruleConfigMaps(in)); err != nil {
		return nil, err
	}
	spec, err := b.pod(in, match)
	if err != nil {
		return nil, err
	}
	pod, err := b.PodTemplate(meta, spec)
	if err != nil {
		return nil, err
	}
	ds := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: b.WorkloadMeta(b.PrefixedName(), match, ""),
		Spec: appsv1.DaemonSetSpec{
			Selector:        &metav1.LabelSelector{MatchLabels: match},
			Template:        pod,
			MinReadySeconds: b.MinReadySeconds(),
		},
	}
	return ds.DeepCopy(), nil
}
