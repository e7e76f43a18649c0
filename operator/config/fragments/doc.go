// Package fragments caches the compiled fragments of configuration objects. A fragment is current until one
// of its inputs changes: the generation of the object, the relevant settings of the workload, or the versions
// of the referenced Secrets and ConfigMaps. Workloads with equal settings share fragments, regardless of
// their kind. Settings of different kinds of workloads must therefore differ if the result does.
//
//	cache.Use(workload, settings.Key())
//	f := cache.Get(settings.Key(), fragments.ID{...}, assets.Current, func() (promconfig.Fragment, bool) {
//		return promconfig.CompileServiceMonitor(m, settings, reader), true
//	})
//
//	cache.go     one fragment per object and settings, shared by workloads
//	kept.go      one result of one workload, until one of its inputs changes
//	lastpass.go  the fragments of one workload's last reconciliation, compared by version
//	parallel.go  compiling many objects on all CPUs
//	result.go    the result of compiling a selected object; dropped.go: what the version does not support
//	weight.go    limits concurrent compilation by memory
package fragments
