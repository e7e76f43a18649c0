// Package balance assigns the targets of one workload to shards: it connects the placement of package allocation with
// the moves of package handoff, and both with the targets, pods and lists of its caller.
//
//	unit.go     units, and the targets that belong to them
//	balancer.go the state, and its settings
//	gather.go   a new leader starts with the units that pods have
//	step.go     one step: new units, plan, moves
//	report.go   reports of pods
//	watch.go    the units that pods report
//	status.go   the state for users and metrics
//
// The caller puts targets into units as it discovers them, and queries the shards of a unit when it makes lists. In
// between, it calls in one goroutine:
//
//	b.Shards(shards, active)
//	b.Pods(now, pods, frozen)
//	events := b.Step(now)
//	… lists with the targets of b.On(unit) …
//	b.Applied(shard, version)
//	watches := b.Watch(addresses)
//
// It has no clock, no goroutine and no I/O.
//
// A tenant cannot keep the targets of others from moving. A unit that a shard does not scrape in time blocks the shard for
// ten minutes, which the units of a namespace can do twice per hour. From then on, they count as scraped once Prometheus
// must have applied the list. So do units with intervals of more than ten minutes, units that no shard scrapes, and units
// with more targets than can be watched.
package balance
