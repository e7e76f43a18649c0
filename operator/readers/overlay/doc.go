// Package overlay is a cluster as it would be if manifests were applied to it: objects of the
// manifests take the place of those in the cluster, all others are the cluster's. What
// controllers would make of them, such as pods and endpoints, is not known.
//
//	cluster.go   the reader of such a cluster
//	carry.go     what a manifest does not say, and an API server keeps or sets
//
//	reader := overlay.Over(cluster, manifests)
//	question, err := explain.FromCluster(ctx, reader, setups, name)
//
// Nothing is written.
package overlay
