package handoff

import (
	"maps"
	"slices"
	"time"
)

// Step advances to the time now, and returns what changed. It is called after changes of the
// inputs, and every few seconds.
func (m *Machine) Step(now time.Time) (events []Event) {
	m.now = now
	if m.recovery != nil && !m.recover() {
		return nil
	}
	events = m.giveUp()
	maps.DeleteFunc(m.buried, func(_ ID, u *unit) bool { return m.left(u) })
	for _, u := range sorted(m.leaving) {
		events = append(events, m.undo(u)...)
	}
	for _, u := range sorted(m.moving) {
		events = append(events, m.proceed(u)...)
	}
	for _, u := range m.waiting() {
		events = append(events, m.start(u)...)
	}
	return events
}

// sorted returns units in an order that does not depend on that of the map.
func sorted(units map[ID]*unit) []*unit {
	return slices.SortedFunc(maps.Values(units), func(a, b *unit) int { return a.id.Compare(b.id) })
}

// undo puts a unit back on a shard that has not lost it yet, if the pods of its own shard that had scraped it
// stopped just after that.
func (m *Machine) undo(u *unit) []Event {
	if m.left(u) {
		delete(m.leaving, u.id)
		return nil
	}
	if u.to != Nowhere || m.any(u.on, func(p *pod) bool { return p.does(u.id, u.kept) }) {
		return nil
	}
	for _, l := range slices.Backward(u.left) { // the last one has had the least time to lose it
		if m.live(l.shard) {
			to := u.on
			m.set(u, l.shard, to)
			return []Event{{Again, u.id, l.shard, to}}
		}
	}
	return nil
}

// proceed ends the move of a unit if it is done, late or no longer wanted. It never returns to a shard that
// does not scrape the unit, because the other one may.
func (m *Machine) proceed(u *unit) []Event {
	from, to := u.on, u.to
	late := m.now.Sub(u.since) > timeoutIntervals*u.want.Interval+timeout
	switch {
	case u.want.Shard == from && m.keeps(u): // it need not move there and back
	case m.has(u):
		m.set(u, to, Nowhere)
		return []Event{{Done, u.id, from, to}}
	case m.dead[from]:
		return m.direct(u)
	case u.want.Shard == to && !late || !m.keeps(u):
		return nil
	}
	m.set(u, from, Nowhere)
	out := []Event{{Back, u.id, from, to}}
	if late {
		if !m.isSlow(to) {
			out = append(out, Event{Kind: Slow, From: Nowhere, To: to})
		}
		m.slow[to] = m.now.Add(slowFor)
	}
	return out
}

// isSlow reports whether a shard gets no units for a while.
func (m *Machine) isSlow(shard int) bool { return m.now.Before(m.slow[shard]) }

// start starts the move of a unit to the shard where it is wanted, if it may.
func (m *Machine) start(u *unit) []Event {
	from, to := u.on, u.want.Shard
	switch {
	case u.to != Nowhere || from == to || to == Nowhere:
	case from == Nowhere:
		m.set(u, to, Nowhere)
	case m.dead[from]:
		return m.direct(u)
	case m.live(to) && !m.isSlow(to) && m.fits(u, from, to) && m.left(u) && !m.unheard():
		m.set(u, from, to)
		return []Event{{Started, u.id, from, to}}
	}
	return nil
}
