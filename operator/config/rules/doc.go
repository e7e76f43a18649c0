// Package rules compiles PrometheusRule objects to the ConfigMaps that a Prometheus or a ThanosRuler mounts.
//
// It uses no client, no logger, and no clock:
//
//	s := rules.Selection{Workload: ..., Settings: rules.PrometheusSettings(p, version), Objects: ...}
//	files := s.Compile(&cache, &last) // one file or error per object
//
//	live := rules.Buckets(configMaps, p.UID)
//	plan := rules.Pack(base, live, files.Contents())
//	writes := plan.Writes(live, meta, files.Contents) // Giving, then Taking
//
// Compile drops the keys that the version does not support, enforces the namespace label,
// renders the file, and checks it. All faults of an object are reported together, each with its
// field in the object. An invalid object does not affect others. Each expression is parsed once
// for all workloads with equal settings.
//
//	settings.go   the settings of a workload that affect a rule object; the cache key
//	gate.go       first versions of keys of the rule file (gates.go: the table)
//	language.go   first versions of functions of PromQL and of templates
//	syntax.go     first versions of forms of PromQL expressions
//	enforce.go    the namespace label in PromQL (query.go: in queries of alert templates)
//	effort.go     bounds the cost of an object (cost.go: of all objects)
//	render.go     the rule file
//	check.go      everything that Prometheus would reject (template.go: alert templates)
//	invalid.go    the error with all faults
//	file.go       the files of a workload, cached where possible
//	lastplan.go   what is computed from them, cached while they are unchanged
//	result.go    the result that is reported for a file
//
// Pack distributes the files over ConfigMaps in a way that changing one rule rewrites one
// ConfigMap. It orders the writes so that a reader of all ConfigMaps always finds each file that
// exists both before and after.
//
//	pack.go shrink.go  assignment of files to ConfigMaps
//	plan.go writes.go  the plan, and its writes to the cluster
//	names.go           the numbers of ConfigMaps
//	archive.go         files that are not in ConfigMaps
//
// The package must not read the cluster, select objects, or log. Callers report Dropped and Err to the user.
package rules
