// Package readers reads the objects of a cluster on behalf of a user, with the permissions of that
// user only.
//
//	reader.go   the Reader interface
//	snapshot.go workloads, what they can select, and what could not be read
//	kinds.go    the Kubernetes resources that are read
//	apiserver   a Reader for an API server, with pagination, in a package of its own
//	review.go   permissions of ServiceAccounts
//	refused.go  human-readable errors
//
//	reader := apiserver.Reader{Kube: clientset, CRDs: clients}
//	object, err := reader.Get(ctx, catalog.ServiceMonitor.GroupVersionResource(), key)
//	all := readers.Read(ctx, reader, readers.Wanted{Kinds: kinds, NamespaceLabels: true})
//
// Code that explains, previews or shows a cluster reads it through a [Reader], so that
// another implementation can be layered on top, such as a cluster with manifests applied. Nothing
// is written.
package readers
