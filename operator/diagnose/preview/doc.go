// Package preview computes the targets of workloads: the targets of each job, the shards that
// scrape them, and for dropped targets the field that drops them.
//
//	workload.go  a workload and its jobs
//	input.go     the report from manifests, from a cluster, or from both
//	compile.go   repeated reads of a workload with a cache
//	cluster.go   the objects to read from a cluster
//	query.go     the query, and the interface for discovering targets
//	manifests.go discovers targets among manifests
//	live.go      discovers targets in a cluster
//	http.go      adds the targets of http_sd_configs
//	run.go       jobs and discovered targets → report (pure except for discovery)
//	report.go    the report for programs
//	reason.go    targets that are not scraped, counted by reason
//	overlap.go   targets that are scraped more than once
//	reshard.go text_reshard.go
//	             the effect of another number of shards
//	servers.go compare.go text_compare.go
//	             the targets of running pods, and the differences
//	words.go     human-readable counts, reasons and names
//	text.go text_reason.go text_forms.go
//	             the human-readable report
//	table.go     the report as CSV
//
// Jobs are compiled by package prometheus, targets come from package targets. Counts always
// include all targets; only lists of targets have a limit.
package preview
