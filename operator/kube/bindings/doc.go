// Package bindings reports in the status of monitors and rules which workloads select
// them and whether they accept them. Begin at [Bind].
//
//	bindings.go  computes the required write from the status and a new result (pure)
//	writer.go    writes, and remembers the writes until the caches have them
//	refusal.go   classifies errors: of one object, of its namespace, or of all
//
// Only differences are written, so a steady state needs no API calls.
package bindings
