package prometheus

import (
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// daemonSet adds a DaemonSet to the plan, which runs one pod per node. After it, the plan
// removes the agent's former StatefulSets and its part of the Service.
func (plan *Plan) daemonSet(b *promworkload.Builder, in *Inputs, pod workload.PodInputs) error {
	ds, err := b.DaemonSet(pod)
	if err != nil {
		return err
	}
	plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Put, Object: ds})
	plan.RemoveUnwanted(b.Base, in.Live)
	svc, _ := b.SharedService(nil, nil)
	plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Release, Object: svc})
	return nil
}
