package balance

import (
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// Totals are the numbers of events so far.
type Totals map[handoff.Kind]int

// Status is what people and metrics see.
type Status struct {
	Ready bool
	Units int
	// Loads are those of the plan, by shard.
	Loads []allocation.Load
	// Moving is the number of units that are on their way, Waiting that of those that wait for it.
	Moving, Waiting int
	// Moves are some of the units on their way.
	Moves []Move
	// Dead are the shards that are given up, Slow those that get nothing for a while.
	Dead, Slow []int
	// Silent are pods that have not said what they have, or from which nothing was heard yet.
	Silent []string
	Totals Totals
}

// Move is a unit on its way.
type Move struct {
	allocation.ID
	From, To int
	Why      allocation.Reason
	Series   uint64
}

// maxMoves is the number of moves that a status names.
const maxMoves = 20

// Status returns the state.
func (b *Balancer) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Status{Ready: b.ready, Units: len(b.units), Loads: b.plan.Loads(), Dead: slices.Sorted(maps.Keys(b.dead)), Totals: maps.Clone(b.totals)}
	for name := range b.pods {
		if _, heard := b.heard[name]; !heard && b.machine != nil {
			out.Silent = append(out.Silent, name)
		}
	}
	slices.Sort(out.Silent)
	if !b.ready {
		return out
	}
	out.Slow = b.machine.Slow()
	moving, waiting := b.machine.Moving()
	out.Moving, out.Waiting = len(moving), waiting
	for _, id := range moving[:min(len(moving), maxMoves)] {
		u := b.units[id]
		if u == nil {
			continue
		}
		from, to := b.machine.Serves(id)
		out.Moves = append(out.Moves, Move{id, from, to, u.why, u.weight.Series()})
	}
	return out
}

// Settled reports whether all units are where they should be.
func (b *Balancer) Settled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ready || len(b.fresh) > 0 {
		return b.machine == nil
	}
	moving, waiting := b.machine.Moving()
	return len(moving)+waiting == 0
}
