// Package engine is the machine that every kind of workload shares.
//
//	informer event → keys → queue → gather → decide → apply → deliver → status
//
// A kind is a [Kind] value: what it is called, what it selects, and functions that gather
// and decide. A [Controller] does everything else for it: it finds the workloads that an
// event is about, never runs two reconciliations of one workload at the same time, writes
// differences only, tells pods what is new and asks them what they run, reports rejected
// objects, binds them in their statuses and writes the status of the workload. So a
// further kind gets all of that without a line of its own.
//
// The package knows no kind.
//
//	kind.go selected.go planning.go    what a kind is; helpers for kinds: selection, plans
//	controller.go loop.go errors.go    wiring; the queue; errors by what they lead to
//	sources.go stores.go trim.go interned.go polled.go
//	                                   informers: shared ones, those of one kind, what is
//	                                   kept of objects, what is polled without permission
//	                                   to watch
//	caches.go                          what is in the caches, for readers; what changes in them
//	events.go pods.go references.go    event → workloads
//	reads.go memory.go reconcile.go    one reconciliation: gather, decide, write
//	claims.go checks.go leftovers.go   expand PVCs; objects that are not watched; pods left
//	                                   behind by the deletion of their StatefulSet
//	deliver.go                         the pods: annotate them, ask them
//	rejections.go outcome.go bindings.go finalizer.go
//	                                   what is reported: rejected objects, the result,
//	                                   bindings in statuses and their cleanup
//	status.go daemonset.go applied.go report.go repair.go
//	                                   the workload's status, and pods that block a rollout
//	metrics.go managed.go gauges.go    metrics
package engine
