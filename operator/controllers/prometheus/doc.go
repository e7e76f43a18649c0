// Package prometheus implements the kinds Prometheus and PrometheusAgent: it turns their
// specs and the objects that they select into a configuration, rules and pods. Package
// engine reconciles them.
//
//	kind.go selected.go workload.go    the two kinds: what they share and where they differ
//	gather.go inputs.go monitors.go    gather: compile the selected objects, once per change
//	scrapes.go                         jobs, each relabel step with its origin, for previews
//	desired.go shards.go daemonset.go retention.go
//	                                   decide: which objects should exist (pure)
//	withheld.go                        configurations that are too large (package configsecret)
package prometheus
