// Package followed knows the targets of workloads in a running cluster: it follows those of
// the workloads that somebody asks about, and of no others.
//
//	source.go    what is followed, and for how long
//	workload.go  one workload: its jobs as they are compiled now, and their sets
//	cluster.go   what workloads select, from a reader
//	page.go      targets of workloads and objects, in parts
//	pod.go       targets of one pod, whoever scrapes it
//	trace.go     one target with every relabel step
//	finder.go    the targets of jobs as they are now, for previews
//	cursor.go    where a part ends, and the next begins
//	rights.go    what a caller may see of targets in other namespaces
//	metrics.go   how much is followed
//
// Nothing is kept of targets that are dropped but their number: their rows are evaluated when
// a part is made that has them. Informers and sets start with the first question about a
// workload, and end ten minutes after the last one.
package followed
