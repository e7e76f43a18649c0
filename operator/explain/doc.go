// Package explain answers why an owner uses a monitor or rule, or why not.
//
//	explain.go   the question and the answer (pure)
//	verdict.go   one owner's answer, step by step in the order of a reconciliation
//	prometheus.go what a Prometheus or PrometheusAgent makes of the object
//	jobs.go      what the compiled object says about shards
//	live.go manifests.go  the question from a cluster, or from files
//	write.go     the answer for people and for programs
//
// Verdicts come from the code that the operator itself selects and compiles with.
// A further kind of owner needs a [Candidate], and to be listed in live.go and
// manifests.go.
package explain
