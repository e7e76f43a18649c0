// Package controller is the reconciliation loop that every kind of workload shares.
//
//	informer event → keys → queue → gather → decide → apply → status
//
// A kind is a [Kind] value: functions that read, decide, write and report. The
// [Loop] runs them: never two reconciliations of one key at the same time, several
// keys in parallel, failures with backoff. It updates the status after every
// reconciliation, whatever its outcome, and coalesces these updates.
//
// The package knows nothing about Prometheus.
package controller
