package allocation

import (
	"cmp"
	"slices"
)

// Limits bound the moves of a Settle, except the placement of units without a shard.
type Limits struct {
	// Fill permits filling shards with too few series.
	Fill bool
	// Relieve are the shards that may be relieved if they have too many series.
	Relieve []string
	// Series is the total number of series that may leave them. A single unit may exceed it if Whole is true.
	Series uint64
	Whole  bool
}

// Settle places all units that need a shard, and then fills and relieves shards within the limits. It returns
// the moves: first the units of draining shards and the new ones, heaviest first, then the others.
func (p *Plan) Settle(limits Limits) (moves []Move) {
	for i := range p.shards { // the zones, in an order that does not depend on a map
		z := p.zones[p.shards[i].Zone]
		if len(z.shards) == 0 || z.shards[0] != int32(i) {
			continue
		}
		moves = append(moves, p.place(z)...)
	}
	if !limits.Fill && len(limits.Relieve) == 0 {
		return moves
	}
	for i := range p.shards {
		z := p.zones[p.shards[i].Zone]
		if len(z.shards) == 0 || z.shards[0] != int32(i) {
			continue
		}
		l := p.level(z)
		if limits.Fill {
			moves = append(moves, p.fill(z, l)...)
		}
		moves = append(moves, p.relieve(z, l, &limits)...)
	}
	return moves
}

// place places the waiting units of a zone, heaviest first.
func (p *Plan) place(z *zone) []Move {
	order := p.sorted(p.waitingIn(z))
	if len(order) == 0 {
		return nil
	}
	room := p.level(z).part(capacity)
	moves := make([]Move, 0, len(order))
	for _, slot := range order {
		why := Place
		if p.on[slot] != Nowhere {
			why = Drain
		}
		to := p.best(slot, room, Nowhere)
		if to == Nowhere {
			to = p.emptiest(slot, Nowhere)
		}
		moves = append(moves, p.move(slot, to, why))
	}
	return moves
}

// sorted returns slots by weight, heaviest first, then by hash, then by key, so that the order does not depend
// on the order of the slots.
func (p *Plan) sorted(slots []int32) []int32 {
	type entry struct {
		hash uint64
		slot int32
		w    Weight
	}
	entries := make([]entry, len(slots))
	for i, slot := range slots {
		entries[i] = entry{p.hashes[slot], slot, p.weight[slot]}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case a.w != b.w:
			return int(b.w) - int(a.w)
		case a.hash != b.hash:
			return cmp.Compare(a.hash, b.hash)
		}
		return p.ids[a.slot].Compare(p.ids[b.slot])
	})
	for i := range entries {
		slots[i] = entries[i].slot
	}
	return slots
}

// best returns the shard with the best score for a unit among those that have at most room series with it, or
// Nowhere.
func (p *Plan) best(slot int32, room uint64, not int32) int32 {
	t, w, hash := p.of[slot], p.weight[slot].Series(), p.hashes[slot]
	most := t.most()
	at, lowest := int32(Nowhere), ^uint64(0)
	for _, i := range t.zone.shards {
		s := &p.shards[i]
		if s.load+w > room || i == not {
			continue
		}
		p.cost.Hashes++
		if x := score(hash, s.hash); (x < lowest || at == Nowhere) && t.on[i] < most {
			at, lowest = i, x
		}
	}
	p.cost.Visits += len(t.zone.shards)
	return at
}

// emptiest returns the shard with the fewest series, and among equal ones that with the best score. It returns
// Nowhere only if not is the only shard of the zone.
func (p *Plan) emptiest(slot, not int32) int32 {
	t, hash := p.of[slot], p.hashes[slot]
	most := t.most()
	at := int32(Nowhere)
	for _, i := range t.zone.shards {
		if i == not || t.on[i] >= most {
			continue
		}
		switch {
		case at == Nowhere || p.shards[i].load < p.shards[at].load:
			at = i
		case p.shards[i].load == p.shards[at].load:
			p.cost.Hashes += 2
			if score(hash, p.shards[i].hash) < score(hash, p.shards[at].hash) {
				at = i
			}
		}
	}
	p.cost.Visits += len(t.zone.shards)
	return at
}

// most returns the maximum number of units of the namespace on a shard that gets one more: 8 plus 4/N of all.
// Keys that are not chosen for it never need that many, and some shard always has fewer.
func (t *tenant) most() int32 { return int32(8 + 4*t.units/len(t.zone.shards)) }
