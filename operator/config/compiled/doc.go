// Package compiled keeps what configuration objects were compiled to, for as
// long as everything they were compiled from stands: the object's generation,
// the owner's settings that matter to it, and the versions of the Secrets and
// ConfigMaps it refers to. Owners with equal settings share fragments, of
// whatever kind the owners are: settings of different kinds of owners must
// differ where the result does.
//
//	cache.Use(owner, settings.Key())
//	f := cache.Get(settings.Key(), compiled.ID{…}, assets.Current, func() (promconfig.Fragment, bool) {
//		return promconfig.CompileServiceMonitor(m, settings, reader), true
//	})
//
//	cache.go     one fragment per object and settings, shared by owners
//	lastpass.go  what one owner had the last time; mostly pointers are compared
//	parallel.go  compiling many objects on all CPUs
//	weight.go    no more at the same time than there is memory for
package compiled
