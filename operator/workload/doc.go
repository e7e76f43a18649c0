// Package workload builds what runs a Prometheus: the StatefulSets with their
// pods, the governing Service and the Secrets around the configuration. It
// decides from plain values only; there is no client, clock or logger here, and
// the same arguments give the same bytes.
//
//	owner := workload.ForServer(p, cfg)
//	for shard, name := range owner.ShardNames() {
//		sts, err := owner.StatefulSet(workload.Inputs{Shard: int32(shard), …})
//	}
//	for _, d := range owner.Dropped() { … } // fields the version does not support
//
// An owner that moves to this operator keeps its pods only when the pod
// template stays the same in every detail. The order of arguments, volumes,
// mounts, containers and variables is therefore part of the contract, and so is
// whether a field is absent or explicitly at its default.
//
// Whatever depends on a version is a row with a gate: args_*.go for the
// servers, thanos.go for the sidecar. A new flag is a row at its place.
//
// What other kinds need too is exported: [Image], [MergeContainers],
// [ConfigReloader], [RulesReloader], [WebConfig].
package workload
