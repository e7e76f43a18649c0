// Package rules turns PrometheusRule objects into the ConfigMaps that a
// Prometheus or a Thanos Ruler mounts.
//
// Two steps, both pure: no client, no logger, no clock.
//
//	s := rules.PrometheusSettings(owner, version)
//	f := rules.Compile(rule, s.For(rule.Namespace, rule.Name)) // one object → one file, or the reason why not
//
//	plan := rules.Pack(rules.PrometheusBase(owner.Name), live, files)
//	for _, step := range plan.Steps { … }                      // in this order
//	mounted := rules.MountNames(base, plan.Names)
//
// Compile, per object: drop the keys the target version does not know, enforce
// the namespace label, render, check. All faults of an object are reported
// together, each with its field as the user wrote it. A bad object costs only
// itself. Every expression is parsed exactly once.
//
//	settings.go  what of an owner matters to a rule object; the cache key
//	gate.go      since when a key of the rule file exists
//	enforce.go   the namespace label in PromQL
//	effort.go    bounds the time an object may cost
//	render.go    the rule file
//	check.go     what Prometheus would refuse (template.go: alert templates)
//	invalid.go   the error with all faults
//
// Pack distributes the files over ConfigMaps so that one changed rule rewrites
// one ConfigMap, and orders the writes so that a reader of all ConfigMaps never
// misses a file that exists both before and after (pack.go says how).
//
// The package must not read the cluster, decide about selection or log: callers
// get Dropped and Err and tell the user.
package rules
