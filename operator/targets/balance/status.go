package balance

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// Totals are the numbers of events.
type Totals map[handoff.Kind]int

// Status describes a balancer for users and metrics.
type Status struct {
	// Ready is false until pods have reported which units they have.
	Ready bool `json:"ready"`
	// Measured is the number of series that pods have counted. Those of other targets are estimated.
	Measured uint64 `json:"measured"`
	// Units is the number of units, which are placed and move as a whole.
	Units int `json:"units"`
	// Shards by number.
	Shards []ShardStatus `json:"shards"`
	// Moving is the number of units on their way, Waiting the number of units that wait for their move.
	Moving  int `json:"moving"`
	Waiting int `json:"waiting"`
	// Moves are some of the moving units. Absent if there are none.
	Moves []Move `json:"moves,omitempty"`
	// Totals are the numbers of events since this replica leads.
	Totals map[string]int `json:"totals,omitempty"`
}

// ShardStatus is the load that a shard should have.
type ShardStatus struct {
	Shard int `json:"shard"`
	// Series of its units, and what shards have on average, without units that are heavier than that.
	Series uint64 `json:"series"`
	Mean   uint64 `json:"mean"`
	Units  int    `json:"units"`
	// Alone is the number of series of a unit on the shard that is heavier than the mean. Absent if there is none.
	Alone uint64 `json:"alone,omitempty"`
	// State is one of [Draining], [Dead], [Fresh] and [Slow]. Absent if it is none of them.
	State string `json:"state,omitempty"`
}

// States of a shard.
const (
	Draining = "draining"
	Dead     = "dead" // given up
	Fresh    = "new"  // without ready pods yet
	Slow     = "slow" // gets no units for a while
)

// Move is a unit that moves.
type Move struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	From      int    `json:"from"`
	To        int    `json:"to"`
	// Why is the reason: drain, fill or relieve.
	Why    string `json:"why"`
	Series uint64 `json:"series"`
}

// maxMoves is the maximum number of moves in a status.
const maxMoves = 20

// maxKey is the maximum length of a key in a status, in bytes.
const maxKey = 200

// Status returns the state.
func (b *Balancer) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Status{Ready: b.ready, Measured: b.measured, Units: len(b.units), Shards: []ShardStatus{}, Totals: map[string]int{}}
	for kind, n := range b.totals {
		out.Totals[kind.String()] = n
	}
	var slow []int
	if b.ready {
		slow = b.machine.Slow()
	}
	for shard, l := range b.plan.Loads() {
		one := ShardStatus{Shard: shard, Series: l.Series, Mean: l.Mean, Units: l.Units, Alone: l.Alone}
		switch {
		case b.dead[shard]:
			one.State = Dead
		case b.unborn[shard]:
			one.State = Fresh
		case l.Draining:
			one.State = Draining
		case slices.Contains(slow, shard):
			one.State = Slow
		}
		out.Shards = append(out.Shards, one)
	}
	if !b.ready {
		return out
	}
	moving, waiting := b.machine.Moving()
	out.Moving, out.Waiting = len(moving), waiting
	for _, id := range moving[:min(len(moving), maxMoves)] {
		if u := b.units[id]; u != nil {
			from, to := b.machine.Serves(id)
			out.Moves = append(out.Moves, Move{id.Namespace, excerpt.Of(id.Key, maxKey), from, to, u.why.String(), u.weight.Series()})
		}
	}
	return out
}

// Imbalance returns the series of the fullest shard that does not drain, divided by those that it should have, in
// thousandths: the mean, or its heaviest unit if that has more. It is 0 without series.
func (s Status) Imbalance() (thousandths int) {
	for _, one := range s.Shards {
		if should := max(one.Mean, one.Alone); one.State == "" && should > 0 {
			thousandths = max(thousandths, int(one.Series*1000/should))
		}
	}
	return thousandths
}

// Current reports whether the pods are known, and all of them have reported their units.
func (b *Balancer) Current() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ready && !b.frozen
}

// Settled reports whether all units are on their shards.
func (b *Balancer) Settled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ready || len(b.fresh) > 0 {
		return b.machine == nil
	}
	moving, waiting := b.machine.Moving()
	return len(moving)+waiting == 0
}
