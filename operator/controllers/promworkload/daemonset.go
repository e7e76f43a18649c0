package promworkload

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UsesDaemonSet reports whether the workload is an agent that runs on every node. Then it
// has a DaemonSet instead of StatefulSets, and no Service.
func (o *Owner) UsesDaemonSet() bool { return o.daemonSet }

// DaemonSet returns the DaemonSet of an agent. Shard and Hash of the inputs are ignored:
// the DaemonSet is written whenever it differs.
//
// Errors: those of [Owner.StatefulSet]; the workload does not use a DaemonSet.
func (o *Owner) DaemonSet(in Inputs) (*appsv1.DaemonSet, error) {
	if !o.daemonSet {
		return nil, errors.New("spec.mode: not a DaemonSet")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	in.Shard = 0
	match := o.matchLabels("")
	if err := o.checkNames(in, match); err != nil {
		return nil, err
	}
	pod, err := o.pod(in, match)
	if err != nil {
		return nil, err
	}
	ds := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: o.WorkloadMeta(o.PrefixedName(), match, ""),
		Spec: appsv1.DaemonSetSpec{
			Selector:        &metav1.LabelSelector{MatchLabels: match},
			Template:        pod,
			MinReadySeconds: o.MinReadySeconds(),
		},
	}
	return ds.DeepCopy(), nil
}
