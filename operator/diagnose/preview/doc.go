// Package preview says what workloads scrape and would scrape: which targets each job
// has, on which shard, and for those that it does not have whose field drops them.
//
//	workload.go  a workload and its jobs
//	compile.go   the same again and again, for whoever shows it as it changes
//	cluster.go   what there is to read of a cluster
//	query.go     what is asked, and what finds targets (one interface)
//	manifests.go finds targets among manifests
//	http.go      adds the targets of http_sd_configs
//	run.go       jobs and what is found → report (pure but for finding)
//	report.go    the report, as programs read it
//	reason.go    what is not scraped, counted by its reason
//	overlap.go   what is scraped more than once
//	servers.go compare.go text_compare.go
//	             what the pods of workloads have, and how that differs
//	mask.go      what is not shown
//	words.go     counts, reasons and names for people
//	text.go text_reason.go text_forms.go
//	             the report for people
//	table.go     the report as CSV
//
// Jobs are those that package prometheus compiles, targets those of package targets. Counts
// are always of all targets; only lists of targets have a limit.
package preview
