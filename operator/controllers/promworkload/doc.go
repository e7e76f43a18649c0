// Package promworkload builds what runs a Prometheus or a PrometheusAgent: the
// StatefulSets or the DaemonSet with their pods, the governing Service and the
// Secrets around the configuration. What other kinds need too is in package
// workload; package prometheus decides which of these objects should exist.
//
//	owner := promworkload.ForServer(p, cfg)
//	for shard, name := range owner.ShardNames() {
//		sts, err := owner.StatefulSet(promworkload.Inputs{Shard: int32(shard), …})
//	}
//	for _, d := range owner.Dropped() { … } // fields the version does not support
//
// Whatever depends on a version is a row with a gate: args_*.go for the
// servers, thanos.go for the sidecar. A new flag is a row at its place.
package promworkload
