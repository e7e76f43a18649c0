// Package explain answers why a workload uses a monitor or rule, or why not.
//
//	explain.go            the question and the answer (pure)
//	verdict.go            one workload's answer, step by step in the order of a reconciliation
//	candidate.go          what a workload makes of the object
//	jobs.go               what the compiled object says about shards
//	looks.go              what its jobs look for, as whom, and what is probably a mistake
//	findings.go           what lint finds about the object and the workload
//	workload.go           the answer about a workload
//	subject.go            the name of the object that is asked about
//	live.go manifests.go  the question from a cluster, or from files
//	write.go              the answer for people and for programs
//
// Verdicts come from the code that the operator itself selects and compiles with, for
// every kind of workload that it runs.
package explain
