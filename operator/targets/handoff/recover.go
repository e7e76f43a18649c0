package handoff

import (
	"cmp"
	"maps"
	"slices"
)

// recovery collects the units in the lists of pods before a leader serves lists.
type recovery struct {
	held map[ID][]holder
}

// holder is a shard with a unit in the list of one of its pods.
type holder struct {
	shard   int
	scraped bool // by all pods that reported to have it
}

// Held records the units in the list of a pod before it gets the first list of this leader, or the first one
// after its shard was given up: until [Machine.HasReported] returns true. scraped is for each unit whether the
// pod scrapes it; nil if the pod cannot know.
func (m *Machine) Held(name string, units []ID, scraped func(ID) bool) {
	p := m.pods[name]
	if p == nil || p.met {
		return
	}
	p.met, p.Live = true, true // even if the API server does not report this yet
	delete(m.dead, p.Shard)
	for _, id := range units {
		if m.recovery == nil {
			p.met = m.late(id, p.Shard) && p.met
			continue
		}
		is := scraped != nil && scraped(id)
		holders := m.recovery.held[id]
		if i := slices.IndexFunc(holders, func(h holder) bool { return h.shard == p.Shard }); i >= 0 {
			holders[i].scraped = holders[i].scraped && is
			continue
		}
		m.recovery.held[id] = append(holders, holder{p.Shard, is})
	}
}

// HasReported reports whether a pod has reported its units. It gets no list before that.
func (m *Machine) HasReported(name string) bool {
	p := m.pods[name]
	return p != nil && p.met
}

// late handles a shard that reports a unit only after it was placed on another one: the unit also stays on the
// first until the other has scraped it. It returns false if the unit is moving between two other shards and
// neither is known to scrape it: then the pod has to wait for its list.
func (m *Machine) late(id ID, shard int) bool {
	u := m.units[id]
	switch {
	case u == nil:
		m.bury(id, shard)
	case u.on == shard || u.to == shard || u.on == Nowhere:
	case m.keeps(u):
		m.leave(u, shard)
	case u.to == Nowhere && shard == u.want.Shard:
		m.set(u, u.on, shard)
	case u.to == Nowhere:
		m.set(u, shard, u.on)
	default:
		return false
	}
	return true
}

// recover ends the recovery if all live pods reported, or it takes too long. It returns false if it does not
// end.
func (m *Machine) recover() bool {
	if m.now.Sub(m.began) < recoverFor {
		for _, p := range m.pods {
			if p.Live && !p.met {
				return false
			}
		}
	}
	held := m.recovery.held
	m.recovery = nil
	for shard := range m.shards {
		m.touch(shard)
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.units), ID.Compare) {
		if u := m.units[id]; len(held[id]) > 0 {
			m.resume(u, held[id])
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(held), ID.Compare) {
		if m.units[id] != nil {
			continue
		}
		for _, h := range held[id] {
			m.bury(id, h.shard)
		}
	}
	return true
}

// bury records that pods of a shard have a unit that has no targets.
func (m *Machine) bury(id ID, shard int) {
	u := m.buried[id]
	if u == nil {
		u = &unit{id: id, on: Nowhere, to: Nowhere, want: Want{Shard: Nowhere}}
		m.buried[id] = u
	}
	m.leave(u, shard)
}

// leave records that pods of a shard have a unit that is not in its list.
func (m *Machine) leave(u *unit, shard int) {
	if slices.ContainsFunc(u.left, func(l departure) bool { return l.shard == shard }) {
		return
	}
	m.touch(shard)
	u.left = append(u.left, departure{shard, m.lists[shard]})
	if m.units[u.id] == u {
		m.leaving[u.id] = u
	}
}

// resume continues with a unit that is in lists. If there are two lists, the unit was moving in an unknown direction:
// both keep it until one shard has scraped it. If there are more, which only happens if pods were given up and have
// returned, those shards keep it that scrape it.
func (m *Machine) resume(u *unit, holders []holder) {
	slices.SortFunc(holders, func(a, b holder) int {
		return cmp.Or(compare(b.scraped, a.scraped), compare(b.shard == u.want.Shard, a.shard == u.want.Shard), cmp.Compare(a.shard, b.shard))
	})
	if len(holders) > 1 {
		first, second := holders[0], holders[1]
		if first.shard == u.want.Shard {
			first, second = second, first
		}
		m.set(u, first.shard, second.shard)
	} else {
		m.set(u, holders[0].shard, Nowhere)
	}
	for _, h := range holders[min(2, len(holders)):] {
		m.leave(u, h.shard)
	}
}

// compare orders false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
