// Package engine is the controller that all kinds of workloads share.
//
//	informer event -> keys -> queue -> gather -> decide -> apply -> deliver -> status
//
// A kind is a [Kind] value: its names, the kinds it selects, and functions that gather and decide.
// A [Controller] does everything else: it maps events to workloads, never reconciles a workload
// concurrently, writes only differences, notifies pods and queries what they run, reports rejected
// objects, records bindings in the statuses of selected objects and writes the status of the
// workload. An additional kind gets all of this without further code.
//
// The package does not depend on any kind.
//
//	kind.go selected.go planning.go    the Kind type; helpers for kinds: selection, plans
//	controller.go loop.go errors.go    wiring; the queue; errors by their effect
//	sources.go stores.go trim.go polled.go
//	                                   informers: shared and per kind; trimming of cached
//	                                   objects; polling if watching is forbidden
//	caches.go                          read access to the caches, and their changes
//	events.go pods.go references.go    event -> workloads
//	reads.go memory.go reconcile.go    one reconciliation: gather, decide, write
//	claims.go checks.go leftovers.go   expansion of PVCs; checks of unwatched objects; pods
//	                                   orphaned by the deletion of their StatefulSet
//	deliver.go                         the pods: annotations and requests
//	rejections.go outcome.go bindings.go finalizer.go
//	                                   reporting: rejected objects, the result, bindings in
//	                                   statuses and their cleanup
//	status.go daemonset.go applied.go report.go repair.go
//	                                   the workload's status, and pods that block a rollout
//	metrics.go managed.go gauges.go    metrics
package engine
