package prometheus

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// governingService wants the Service that all owners of the namespace share. One that
// does not use it any more leaves it with the next reconciliation of another.
func (plan *Plan) governingService(owner *workload.Owner, in Inputs, cfg workload.Config) {
	var peers []workload.Peer
	for _, p := range in.Peers {
		peers = append(peers, workload.Peer{Owner: p.Workload(cfg), Foreign: p.Foreign})
	}
	svc, lost := owner.GoverningService(peers...)
	plan.Warnings = append(plan.Warnings, lost...)
	plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Put, Object: svc})
}

// shards wants the Service and a StatefulSet for each shard, and decides about
// those that exist and are not wanted.
func (plan *Plan) shards(o Owner, owner *workload.Owner, in Inputs, cfg workload.Config, pod workload.Inputs) error {
	if owner.UsesGoverningService() {
		plan.governingService(owner, in, cfg)
	}
	if o.Server != nil {
		pod.RuleConfigMaps = owner.PadRuleConfigMaps(pod.RuleConfigMaps)
		slices.Sort(pod.RuleConfigMaps)
	}
	wanted := map[string]bool{}
	for shard, name := range owner.ShardNames() {
		wanted[name] = true
		pod.Shard = int32(shard)
		var err error
		if pod.Hash, err = owner.InputHash(in.StatefulSets[name], pod); err != nil {
			return err
		}
		sts, err := owner.StatefulSet(pod)
		if err != nil {
			return err
		}
		if in.Claims != nil {
			plan.claims(sts, in.Claims)
		}
		plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Put, Object: sts})
	}
	for _, name := range slices.Sorted(maps.Keys(in.StatefulSets)) {
		if s := in.StatefulSets[name]; !wanted[name] && s.DeletionTimestamp == nil && owner.Owns(s) {
			plan.surplus(o, cfg, s, in.Now)
		}
	}
	if d := in.DaemonSet; d != nil && d.DeletionTimestamp == nil && owner.Owns(d) { // the mode was changed
		gone := &appsv1.DaemonSet{ObjectMeta: owner.Identity(d.Name)}
		plan.Workload = append(plan.Workload, apply.Step{Verb: apply.Remove, Object: gone})
	}
	return nil
}
