package prometheus

import (
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// daemonSet wants one pod on every node. What the agent had as StatefulSets goes
// after that: its shards, and its part in the Service.
func (plan *Plan) daemonSet(owner *promworkload.Owner, in *Inputs, pod promworkload.Inputs) error {
	ds, err := owner.DaemonSet(pod)
	if err != nil {
		return err
	}
	plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Put, Object: ds})
	plan.RemoveUnwanted(owner.Base, in.Live)
	svc, _ := owner.SharedService(nil, nil)
	plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Release, Object: svc})
	return nil
}
