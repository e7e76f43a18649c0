// Package promworkload builds the objects that run a Prometheus or a PrometheusAgent: the
// StatefulSets or the DaemonSet with their pods, the governing Service, and the Secrets
// around the configuration. Package workload has the parts that other kinds need too;
// package prometheus decides which of these objects should exist.
//
//	b := promworkload.ForServer(p, cfg)
//	for shard, name := range b.ShardNames() {
//		sts, err := b.StatefulSet(workload.PodInputs{Shard: int32(shard), …})
//	}
//	for _, d := range b.Dropped() { … } // fields the version does not support
//
// Every version-dependent argument is a row with a gate: args_*.go for the servers,
// thanos.go for the sidecar. To add a flag, add a row at its place.
package promworkload
