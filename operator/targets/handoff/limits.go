package handoff

import (
	"cmp"
	"slices"
)

// inFlight limits the series that are moving to or off a shard to this fraction (1/inFlight) of its series.
const inFlight = 20

// fits reports whether a move may start within the limits. One unit may always move.
func (m *Machine) fits(u *unit, shards ...int) bool {
	for _, shard := range shards {
		l := m.load(shard)
		if l.moving > 0 && l.moving+u.want.Series > max(l.on, l.want)/inFlight {
			return false
		}
	}
	return true
}

// waiting returns the units that wait for their move: first those on draining shards, then those for
// underloaded shards, then those on overloaded ones; the heaviest first.
func (m *Machine) waiting() []*unit {
	if m.order == nil {
		m.order = make([]*unit, 0, len(m.pending))
		for _, u := range m.pending {
			m.order = append(m.order, u)
		}
		slices.SortFunc(m.order, func(a, b *unit) int {
			return cmp.Or(cmp.Compare(a.want.Why, b.want.Why), cmp.Compare(b.want.Series, a.want.Series), a.id.Compare(b.id))
		})
	}
	return slices.Clone(m.order)
}
