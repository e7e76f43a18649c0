package prometheus

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// shards adds the Service and a StatefulSet per shard to the plan, and decides about
// surplus StatefulSets.
func (plan *Plan) shards(b *promworkload.Builder, in *Inputs, pod workload.PodInputs) error {
	plan.PutService(b, in.Live, func(w v1.Workload) workload.ServiceUser { return workloadOf(w).builder(in.config()) })
	if in.Workload.Server != nil {
		pod.RuleConfigMaps = b.PadRuleConfigMaps(pod.RuleConfigMaps)
	}
	names := b.ShardNames()
	for shard, name := range names {
		pod.Shard = int32(shard)
		var err error
		if pod.Hash, err = b.InputHash(in.StatefulSets[name], pod); err != nil {
			return err
		}
		sts, err := in.sets.Get(in.Workload, pod, b.StatefulSet)
		if err != nil {
			return err
		}
		if shard == 0 && budget.Size(sts, budget.ShardBytes)*len(names) > budget.ShardBytes && len(names) > 1 {
			return faults.At("spec.shards", fmt.Errorf("%d StatefulSets of this size take more than %d MiB: use fewer shards, or make the object smaller", len(names), budget.ShardBytes>>20))
		}
		plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Put, Object: sts})
	}
	for _, name := range in.Unwanted(b.Base, b.ShardNames()...) {
		plan.surplus(in, in.StatefulSets[name])
	}
	if d := in.DaemonSet; d != nil && d.DeletionTimestamp == nil && b.Owns(d) { // the mode was changed
		gone := &appsv1.DaemonSet{ObjectMeta: b.Identity(d.Name)}
		plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Remove, Object: gone})
	}
	return nil
}
