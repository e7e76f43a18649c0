package handoff

import (
	"cmp"
	"slices"
)

// inFlight limits the series on their way to or off a shard to one in so many of its series.
const inFlight = 20

// fits reports whether a move may start without too much being on its way. One unit always may.
func (m *Machine) fits(u *unit, shards ...int) bool {
	for _, shard := range shards {
		l := m.load(shard)
		if l.moving > 0 && l.moving+u.want.Series > max(l.on, l.want)/inFlight {
			return false
		}
	}
	return true
}

// waiting returns the units that wait for their move: off draining shards first, then to shards that
// have too few, then off those that have too many; the heaviest first.
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
