package balance

import (
	"maps"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

const (
	// paceEvery is how often shards may be filled and relieved.
	paceEvery = time.Minute
	// maxInterval is the longest scrape interval of a unit for which a move waits.
	maxInterval = 10 * time.Minute
	// maxStrikes is the maximum number of times that the units of a namespace may block a shard within strikesFor.
	maxStrikes = 2
	strikesFor = time.Hour
)

// Step advances to the time now, and returns what changed.
func (b *Balancer) Step(now time.Time) []handoff.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.machine == nil:
		return nil
	case !b.ready:
		if !b.gather(now) {
			return nil
		}
	}
	fresh := b.admit()
	met := false
	for _, name := range slices.Sorted(maps.Keys(b.inventories)) {
		met = b.meet(name) || met
	}
	b.settle(now)
	for _, u := range fresh {
		b.want(u, u.why)
	}
	events := b.machine.Step(now)
	b.note(now, events)
	for _, u := range fresh {
		b.refresh(u)
	}
	if met {
		b.refreshAll()
	}
	return events
}

// admit puts new units into the plan.
func (b *Balancer) admit() []*Unit {
	fresh := slices.DeleteFunc(b.fresh, func(u *Unit) bool { return b.units[u.id] != u })
	b.fresh = nil
	b.plan.Grow(len(fresh))
	for _, u := range fresh {
		b.plan.Put(allocation.Unit{ID: u.id, Zone: u.zone, Weight: u.weight})
		u.planned = true
	}
	return fresh
}

// settle plans placements and starts the resulting moves.
func (b *Balancer) settle(now time.Time) {
	if !b.settings.Weighted {
		return
	}
	limits := allocation.Limits{}
	if b.fill || now.Sub(b.paced) >= paceEvery {
		b.paced, limits = now, b.pace.Limits(now, b.plan.Loads())
		limits.Fill, b.fill = limits.Fill || b.fill, false
	}
	moves := b.plan.Settle(limits)
	b.pace.Moved(now, moves)
	for _, move := range moves {
		b.want(b.units[move.ID], move.Why)
	}
}

// want passes the wanted shard of a unit to the machine.
func (b *Balancer) want(u *Unit, why allocation.Reason) {
	u.why = why
	if b.machine == nil {
		return
	}
	shard := u.hash
	if b.settings.Weighted {
		shard = b.plan.On(u.id)
	}
	b.machine.Want(u.id, handoff.Want{Shard: shard, Why: why, Series: u.weight.Series(), Interval: min(u.interval, maxInterval)})
}

// refresh updates the shards of a unit.
func (b *Balancer) refresh(u *Unit) {
	on, to := b.machine.Serves(u.id)
	if b.settings.Switch && to != nowhere {
		on, to = to, nowhere
	}
	if on != u.on || to != u.to {
		b.changes++
		u.on, u.to, u.changed = on, to, b.changes
	}
}

func (b *Balancer) refreshAll() {
	for _, u := range b.units {
		b.refresh(u)
	}
}

// note records the events of the machine.
func (b *Balancer) note(now time.Time, events []handoff.Event) {
	if now.Sub(b.struck) >= strikesFor {
		clear(b.strikes)
		b.struck = now
	}
	for i, e := range events {
		b.totals[e.Kind]++
		switch e.Kind {
		case handoff.Dead:
			b.dead[e.From] = true
			b.reshape()
			continue
		case handoff.Slow:
			continue
		}
		u := b.units[e.ID]
		if u == nil {
			continue
		}
		switch e.Kind {
		case handoff.Done:
			u.believed = false
		case handoff.Back:
			u.believed = u.believed || now.Sub(b.machine.Since(u.id)) > lateAfter(u)
			if i+1 < len(events) && events[i+1].Kind == handoff.Slow {
				b.strikes[u.id.Namespace]++
			}
		}
		b.refresh(u)
	}
}
