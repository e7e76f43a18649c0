// Package targets decides what a scrape job makes of what its discoveries find: which
// targets are scraped, by which shard and with which labels, and for each of the others
// which relabel step drops it and whose field made that step.
//
// It is pure: jobs are read from the text that the operator generates, groups of
// discovered labels come from the caller (package discovery). Relabeling and the checks of
// a target are those of Prometheus (model/relabel and scrape.PopulateLabels); only the
// order of steps, the origin of each and the division among shards are looked at here.
//
//	job.go sd.go sd_http.go
//	                   jobs from their text: steps by shard, discoveries
//	evaluate.go        groups → what becomes of each target
//	sieve.go           the same for most dropped targets, with few of their labels
//	result.go          details of those that are asked for
//	drop.go words.go   why a target is dropped, for programs and for people
//	legacy.go          what servers of major version 2 do else
//	target.go          a target with all details
//	group.go trace.go  one group apart from the others; every step of one target
//
//	jobs, err := targets.ReadJobs(promconfig.JobText{Text: fragment.YAML, Origins: fragment.Origins, …})
//	result := jobs[0].Evaluate(targets.Found{Groups: groups})
//
// The rules are those of the Prometheus release that is linked, but for servers of major
// version 2 (legacy.go); see [Document.Release].
package targets
