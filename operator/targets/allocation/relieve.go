package allocation

import (
	"cmp"
	"slices"
)

// relieve moves units off overloaded shards, within the limits, heaviest first. A unit moves to a shard with room for
// it. If there is none, it moves to the emptiest one, unless that one would then have more series than the old shard
// without the unit. So the heavier of the two shards always gets lighter, and relief terminates.
func (p *Plan) relieve(z *zone, l level, limits *Limits) (moves []Move) {
	var over []int32
	units := map[int32][]int32{}
	for _, name := range limits.Relieve {
		i, ok := p.index[name]
		if !ok || p.zones[p.shards[i].Zone] != z || p.shards[i].Draining || slices.Contains(over, i) {
			continue
		}
		if s := &p.shards[i]; s.load > p.should(s, l)+l.part(high-thousands) {
			over = append(over, i)
			units[i] = nil
		}
	}
	if len(over) == 0 {
		return nil
	}
	slices.SortFunc(over, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.shards[b].load, p.shards[a].load), cmp.Compare(p.shards[a].hash, p.shards[b].hash), cmp.Compare(p.shards[a].Name, p.shards[b].Name))
	})
	p.cost.Visits += len(p.on)
	for slot, at := range p.on {
		if _, ok := units[at]; ok {
			units[at] = append(units[at], int32(slot))
		}
	}
	for _, i := range over {
		moves = append(moves, p.relieveOne(i, l, p.sorted(units[i]), limits)...)
	}
	return moves
}

// relieveOne moves some units of a shard: first those that are not heavier than its excess; if they do not
// suffice, heavier ones that leave the shard as far below the mean as it was above.
func (p *Plan) relieveOne(i int32, l level, units []int32, limits *Limits) (moves []Move) {
	for times := range uint64(2) {
		for _, slot := range units {
			if p.on[slot] != i || !p.leaves(slot, l, times+1) || p.weight[slot].Series() > limits.Series && !limits.Whole {
				continue
			}
			to := p.relieves(slot, l)
			if to == Nowhere {
				continue
			}
			m := p.move(slot, to, Relieve)
			moves = append(moves, m)
			limits.Series -= min(m.Weight.Series(), limits.Series)
			limits.Whole = false
		}
	}
	return moves
}

// leaves reports whether a unit may leave its shard: the shard still has an excess, and the unit is at most a
// multiple of the excess and not the one to which the shard belongs.
func (p *Plan) leaves(slot int32, l level, times uint64) bool {
	s, w := &p.shards[p.on[slot]], p.weight[slot]
	heaviest, giant := s.giants(l)
	if giant && w == heaviest && s.classes[w] == 1 || !giant && s.load <= l.part(relieved) {
		return false
	}
	should := p.should(s, l)
	return s.load > should && w.Series() <= times*(s.load-should)
}

// relieves returns the shard to which a unit of an overloaded shard moves, or Nowhere.
func (p *Plan) relieves(slot int32, l level) int32 {
	at, w, room := p.on[slot], p.weight[slot], l.part(capacity)
	if to := p.best(slot, room, at); to != Nowhere {
		return to
	}
	to := p.emptiest(slot, at)
	if to == Nowhere {
		return Nowhere
	}
	from := p.shards[at].load
	if with := p.shards[to].load + w.Series(); with <= from-w.Series() || w >= l.giant && with < from {
		return to
	}
	return Nowhere
}

// should returns the desired number of series of a shard: that of its unit that needs a shard of its own, or
// the mean.
func (p *Plan) should(s *shard, l level) uint64 {
	if w, ok := s.giants(l); ok {
		return w.Series()
	}
	return l.part(thousands)
}
