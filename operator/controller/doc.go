// Package controller is the loop that every kind of owner shares.
//
//	informer event → owner keys → queue → gather → decide → apply → status
//
// A kind is a [Kind] value: functions that read, decide, write and report. The
// [Loop] runs them: never two passes for one key at the same time, several keys
// in parallel, failures again with backoff, status written after every pass
// whatever its outcome, and coalesced.
//
// [Store] is the informer cache of one kind of object over the watched
// namespaces, [Poll] how it does without permission to watch, and [Reads] says
// which lists and watches fail. The package knows nothing about Prometheus.
package controller
