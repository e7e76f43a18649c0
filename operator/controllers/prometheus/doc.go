// Package prometheus is the family of Prometheus and PrometheusAgent, called owners in
// the code: how what an owner selects becomes a configuration, rules and pods. What
// reconciles them is package engine.
//
//	kind.go selected.go owner.go       the two kinds: what they have in common, where they differ
//	gather.go inputs.go                gather: compile what an owner selects, once per change
//	scrapes.go                         its jobs, each relabel step with its origin, for previews
//	desired.go shards.go daemonset.go retention.go
//	                                   decide: which objects should exist (pure)
//	withheld.go                        what happens while the configuration is too large (package configsecret)
package prometheus
