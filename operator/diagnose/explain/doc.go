// Package explain explains why a workload uses a monitor, rule or AlertmanagerConfig, or why not.
//
//	explain.go            the question and the report (pure)
//	result.go            the result of one workload, by filters in the order of a reconciliation
//	candidate.go          compiling the object for a workload
//	jobs.go               job names and sharding, from the compiled object
//	looks.go              discovery of its jobs, their ServiceAccount, and probable mistakes
//	findings.go           lint findings about the object and the workload
//	workload.go           the report about a workload
//	subject.go            the name of the object in question
//	input.go              the source of the question: files, a cluster, or both
//	live.go manifests.go applied.go
//	                      the question from each of them
//	write.go              text and JSON output
//
// Results come from the code that the operator itself selects and compiles with, for
// every kind of workload that it runs.
package explain
