// Package compiled caches the compiled fragments of configuration objects. A fragment is current until one
// of its inputs changes: the generation of the object, the relevant settings of the owner, or the versions
// of the referenced Secrets and ConfigMaps. Owners with equal settings share fragments, regardless of
// their kind. Settings of different kinds of owners must therefore differ if the result does.
//
//	cache.Use(owner, settings.Key())
//	f := cache.Get(settings.Key(), compiled.ID{...}, assets.Current, func() (promconfig.Fragment, bool) {
//		return promconfig.CompileServiceMonitor(m, settings, reader), true
//	})
//
//	cache.go     one fragment per object and settings, shared by owners
//	kept.go      one result of one owner, until one of its inputs changes
//	lastpass.go  the fragments of one owner's last reconciliation, compared by pointer
//	parallel.go  compiling many objects on all CPUs
//	weight.go    limits concurrent compilation by memory
package compiled
