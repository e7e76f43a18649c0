// Package overlay reads a cluster as it would be with manifests applied: objects of the manifests
// replace those in the cluster. What controllers would create for them, such as pods and endpoints,
// is unknown.
//
//	cluster.go   the reader of such a cluster
//	carry.go     fields that an API server keeps or defaults
//
//	reader := overlay.Over(cluster, manifests)
//	question, err := explain.FromCluster(ctx, reader, setups, name)
//
// Nothing is written.
package overlay
