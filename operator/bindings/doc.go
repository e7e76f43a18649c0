// Package bindings says in the status of monitors and rules which owners select
// them and whether they accept them.
//
//	bindings.go  the status that is there + the verdict → the write that is missing (pure)
//	writer.go    makes the writes, and remembers them until the caches show them
//
// Only what differs is written, so a steady state makes no call.
package bindings
