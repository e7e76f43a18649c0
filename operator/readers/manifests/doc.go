// Package manifests reads manifests in place of a cluster: as strictly as the API server, with the
// defaults of the API. It then runs the operator's own gather and decide steps on them.
//
//	load.go decode.go  files, documents and Lists; faults and their locations
//	kinds.go           the kinds that the operator runs and the kinds they select
//	native.go          Kubernetes objects that affect scraping
//	operators.go       operators that Deployments run, and their flags
//	broken.go          YAML that cannot be parsed: where the fault is, and what was meant
//	syntax.go          the errors of documents and files that cannot be read
//	kustomization.go   the files that a kustomization changes
//	misnamed.go        misspelled kinds and versions of our group
//	versions.go        objects in a version that the operator does not read
//	schema.go          defaults, and values that the API server rejects
//	objects.go         the result of reading
//	cluster.go         the result as a cluster
//	promises.go        Secrets and ConfigMaps that other manifests generate
//	assumed.go         placeholder values for references
//	missing.go         Secrets and ConfigMaps that only pods need
//	outcome.go         the outcome of reconciling a workload
//
//	objects, err := manifests.Load(paths, kinds)
//	for _, workload := range objects.Workloads() {
//		outcome := objects.Reconcile(workload)
//		…
//	}
package manifests
