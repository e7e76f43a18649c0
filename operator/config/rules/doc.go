// Package rules turns PrometheusRule objects into the ConfigMaps that a
// Prometheus or a ThanosRuler mounts.
//
// No client, no logger, no clock:
//
//	s := rules.Selected{Owner: …, Settings: rules.PrometheusSettings(owner, version), Objects: …}
//	files := s.Compile(&cache, &last) // one object → one file, or the reason why not
//
//	live := rules.Buckets(configMaps, owner.UID)
//	plan := rules.Pack(base, live, files.Contents())
//	writes := plan.Writes(live, meta) // Giving, then Taking
//
// Compile, per object: drop the keys the target version does not know, enforce
// the namespace label, render, check. All faults of an object are reported
// together, each with its field as the user wrote it. A bad object costs only
// itself. Every expression is parsed exactly once, for all workloads with equal
// settings.
//
//	settings.go   what of a workload matters to a rule object; the cache key
//	gate.go       since when a key of the rule file exists (gates.go: the table)
//	language.go   since when a function of PromQL or of templates exists
//	enforce.go    the namespace label in PromQL
//	effort.go     bounds the time an object may cost
//	render.go     the rule file
//	check.go      what Prometheus would refuse (template.go: alert templates)
//	invalid.go    the error with all faults
//	file.go       the files of a workload, from caches where they still stand
//	verdict.go    what the engine reports of a file
//
// Pack distributes the files over ConfigMaps so that one changed rule rewrites
// one ConfigMap, and orders the writes so that a reader of all ConfigMaps never
// misses a file that exists both before and after.
//
//	pack.go shrink.go  which ConfigMap holds which file
//	plan.go writes.go  the plan, and its writes to the cluster
//	names.go           the numbers of ConfigMaps
//	archive.go         files that no ConfigMap holds
//
// The package must not read the cluster, decide about selection or log: callers
// get Dropped and Err and tell the user.
package rules
