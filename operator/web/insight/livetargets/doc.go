// Package livetargets keeps the targets of workloads in a running cluster up to date. It follows only
// the workloads for which clients request targets.
//
//	source.go     the workloads that are followed, and for how long
//	memory.go     the memory that workloads share
//	workload.go   one workload: its compiled jobs and their target sets
//	account.go    permissions of the ServiceAccount of a workload
//	cluster.go    the cluster as input for compiling a workload, from a reader
//	page.go       targets of workloads and objects, paginated
//	pod.go        targets of one pod in all workloads
//	overlap.go    URLs that several jobs scrape
//	scrapes.go    health of targets, from running servers
//	trace.go      one target with every relabel step
//	finder.go     current targets of jobs, for previews
//	permitted.go  the same, limited to the permissions of a ServiceAccount
//	cursor.go     continue tokens
//	rights.go     redaction of targets in other namespaces
//	visibility.go      filtering of targets that the caller may not see
//	jobs.go       all jobs of a workload, followed for central discovery
//	metrics.go    metrics about followed workloads
//
// Dropped targets are only counted. Their rows are evaluated when a page that includes them is
// requested. Informers and sets start with the first request for a workload and stop ten minutes
// after the last one.
package livetargets
