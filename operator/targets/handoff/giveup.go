package handoff

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// giveUp marks shards without a live replica for too long as dead, one at a time, and unmarks those with a live
// replica.
func (m *Machine) giveUp() (events []Event) {
	if m.frozen {
		return nil
	}
	shards := map[int]bool{}
	for shard, l := range m.loads {
		if l.units > 0 {
			shards[shard] = true
		}
	}
	for shard := range m.of {
		shards[shard] = true
	}
	var longest []int
	for shard := range shards {
		if m.live(shard) {
			delete(m.gone, shard)
			delete(m.dead, shard)
			continue
		}
		if shard >= m.shards && len(m.of[shard]) == 0 {
			m.dead[shard] = true
		}
		if _, known := m.gone[shard]; !known {
			m.gone[shard] = m.now
		}
		if !m.dead[shard] && m.rules.ReassignAfter > 0 && m.now.Sub(m.gone[shard]) >= m.rules.ReassignAfter {
			longest = append(longest, shard)
		}
	}
	maps.DeleteFunc(m.gone, func(shard int, _ time.Time) bool { return !shards[shard] })
	maps.DeleteFunc(m.dead, func(shard int, _ bool) bool { return !shards[shard] })
	if len(longest) == 0 || !m.gaveUp.IsZero() && m.now.Sub(m.gaveUp) < giveUpEvery {
		return nil
	}
	shard := slices.MinFunc(longest, func(a, b int) int { return cmp.Or(m.gone[a].Compare(m.gone[b]), cmp.Compare(a, b)) })
	m.dead[shard], m.gaveUp = true, m.now
	for _, p := range m.of[shard] { // when one is back, it reports its units before it loses them
		p.met, p.heard = false, false
	}
	return []Event{{Kind: Dead, From: shard, To: Nowhere}}
}

// direct moves a unit off a dead shard.
func (m *Machine) direct(u *unit) []Event {
	from, to := u.on, u.to
	if to == Nowhere || !m.live(to) {
		to = u.want.Shard
	}
	if to == from || !m.live(to) {
		return nil
	}
	m.set(u, to, Nowhere)
	return []Event{{Direct, u.id, from, to}}
}
