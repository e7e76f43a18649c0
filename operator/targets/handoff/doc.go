// Package handoff moves units of targets from one shard to another without a gap: a unit is added to
// the list of the new shard, and removed from that of the old one when all replicas of the new one have
// scraped it.
//
//	Stable(A) → Adding(A,B,since) → Stable(B)
//
// The package is pure: it has no clock, no goroutine and no I/O, and equal calls lead to the same result.
// Package allocation decides where units should be, this package which units the list of each shard has now.
//
//	messages.go inputs and outputs
//	machine.go  the state
//	unit.go     which shards have a unit in their lists
//	step.go     one step: moves end, shards are given up, moves start
//	confirm.go  the units of a shard, as its pods report them
//	giveup.go   shards without live pods
//	limits.go   how much may move at the same time, and in which order
//	recover.go  a new leader takes over from the lists that pods have
//
//	m := handoff.New(leader, now, handoff.Rules{ReassignAfter: 5 * time.Minute})
//	m.Pods(pods)
//	m.Want(id, handoff.Want{Shard: 2, Why: allocation.Fill, Series: 700, Interval: 30 * time.Second})
//	m.Report(report)
//	for _, event := range m.Step(now) { … }
//	on, to := m.Serves(id)
//
// Invariants, even if messages are lost, late or repeated; the tests check them for all interleavings of
// some events:
//
//   - Unless a pod that scrapes it stops, a unit that is scraped stays scraped: no step takes it from
//     the last shard that has scraped it.
//   - Pods of at most two shards have a unit in their lists, unless one of them was given up as dead
//     and is back.
//   - A unit moves once for each change of its wanted shard. A shard that does not scrape its new units
//     gets no others for ten minutes.
//
// With targets of one replica, the time between two scrapes is at most one interval, as the new shard has
// scraped a target before the old one loses it.
package handoff
