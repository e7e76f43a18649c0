// Package readers reads objects of a cluster for a person, with the permissions of that person
// and no others.
//
//	reader.go   the interface, and what is read through it in several commands
//	kinds.go    the resources of Kubernetes' own that are read
//	cluster.go  the interface over an API server, page by page
//	review.go   what ServiceAccounts may do
//	refused.go  why something could not be read, for people
//
//	reader := readers.Cluster{Kube: clientset, CRDs: clients}
//	object, err := reader.Get(ctx, catalog.ServiceMonitor.GroupVersionResource(), key)
//	all, err := readers.Watched(ctx, reader, catalog.Prometheus, namespaces)
//
// Whatever explains, previews or shows what is in a cluster reads it through a [Reader], so that
// another one can stand before it, such as a cluster to which manifests were applied. Nothing
// is written.
package readers
