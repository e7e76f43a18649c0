// Package targets evaluates scrape jobs over discovered targets: which targets are scraped, by
// which shard and with which labels, and for each of the others which relabel step drops it and
// which field produced that step.
//
// It does no I/O: jobs are parsed from the generated configuration, and the caller supplies the
// discovered groups (package discovery). Relabeling uses the Prometheus package model/relabel; this
// package adds the order of steps, the origin of each and sharding.
//
//	job.go sd.go sd_http.go
//	                   parsing of jobs: steps by shard, discoveries
//	populate.go        labels before and after relabeling, as in the scrape package of Prometheus
//	evaluate.go        groups -> the state of each target
//	sieve.go           a fast path for most dropped targets, which reads few of their labels
//	result.go          details of targets, on request
//	drop.go words.go   why a target is dropped, machine-readable and human-readable
//	legacy.go          differences in Prometheus 2.x
//	target.go          a target with all details
//	group.go trace.go  evaluation of a single group; every step of one target
//	placement.go       what decides on which shard a target is
//	readlabels.go      the discovered labels that the steps of a job read
//
//	jobs, err := targets.ReadJobs(promconfig.JobText{Text: fragment.YAML, Origins: fragment.Origins, ...})
//	result := jobs[0].Evaluate(targets.Found{Groups: groups})
//
// The rules are those of the Prometheus release that is linked, except for servers of major version
// 2 (legacy.go); see [Document.Release].
package targets
