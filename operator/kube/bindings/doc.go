// Package bindings reports in the status of monitors and rules which workloads select
// them, and whether they accept them.
//
//	bindings.go  existing status + new result → missing write (pure)
//	writer.go    writes, and remembers the writes until the caches show them
//
// Only what differs is written, so a steady state makes no call.
package bindings
