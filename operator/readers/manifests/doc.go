// Package manifests is manifests instead of a cluster: it reads them as strictly as
// the API server, applies the defaults of the API, and runs the operator's own gather
// and decide steps over them.
//
//	load.go decode.go  files, documents and Lists; what is wrong with them, and where
//	kinds.go           the kinds that the operator runs and what they select
//	native.go          objects of Kubernetes' own, which decide what is scraped
//	misnamed.go        kinds and versions that are almost ours
//	versions.go        objects in a version that the operator does not read
//	schema.go          defaults, and values that the API server refuses
//	objects.go         what was read
//	cluster.go         the cluster that it would be
//	promises.go        Secrets and ConfigMaps that manifests make in a cluster
//	assumed.go         values for what is not known
//	missing.go         Secrets and ConfigMaps that only pods need
//	outcome.go         what the operator would make of a workload in it
//
//	objects, err := manifests.Load(paths, kinds)
//	for _, workload := range objects.Workloads() {
//		outcome := objects.Reconcile(workload)
//		…
//	}
package manifests
