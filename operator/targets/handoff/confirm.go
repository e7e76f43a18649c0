package handoff

import (
	"slices"
	"time"
)

// Report records the report of a pod. It ignores reports of other leaders' lists and of unknown pods, and those
// that arrive after a later one.
func (m *Machine) Report(r Report) {
	p := m.pods[r.Pod]
	if p == nil || r.Leader != m.leader || r.Boot < p.boot || r.Boot == p.boot && r.Seq <= p.seq && p.heard {
		return
	}
	if r.Boot > p.boot {
		clear(p.fetched)
	}
	p.boot, p.seq, p.heard, p.blind = r.Boot, r.Seq, true, r.Blind
	p.version = max(p.version, r.Version) // a list survives a restart
	p.scraped = nil
	for _, id := range r.Scraped {
		if p.scraped == nil {
			p.scraped = map[ID]bool{}
		}
		p.scraped[id] = true
	}
	p.fetched = m.fetchedBy(p, r)
}

// fetchedBy returns the times at which a blind pod first reported that it has the versions of its list to which units were
// added.
func (m *Machine) fetchedBy(p *pod, r Report) map[uint64]time.Time {
	out := map[uint64]time.Time{}
	if !r.Blind {
		return out
	}
	for _, u := range m.moving {
		if u.to != p.Shard || r.Version < u.added {
			continue
		}
		out[u.added] = m.now
		if since, known := p.fetched[u.added]; known {
			out[u.added] = since
		}
	}
	return out
}

// has reports whether all live replicas of the shard to which a unit is on its way have scraped it.
func (m *Machine) has(u *unit) bool {
	return m.all(u.to, func(p *pod) bool {
		if p.version < u.added {
			return false
		}
		since, ok := p.fetched[u.added]
		return p.scraped[u.id] || p.blind && ok && m.now.Sub(since) >= settles+u.want.Interval
	})
}

// keeps reports whether all live replicas of the shard that a unit leaves still scrape it.
func (m *Machine) keeps(u *unit) bool {
	return m.all(u.on, func(p *pod) bool { return p.does(u.id, u.kept) })
}

// does reports whether a pod scrapes a unit that is in its list since a version. It assumes so for a pod that
// cannot report it.
func (p *pod) does(id ID, since uint64) bool {
	return p.heard && p.version >= since && (p.blind || p.scraped[id])
}

// all reports whether a shard has live replicas, of which all have reported and meet a condition.
func (m *Machine) all(shard int, meets func(*pod) bool) bool {
	live := false
	for _, p := range m.of[shard] {
		if !p.Live {
			continue
		}
		if live = true; !p.heard || !meets(p) {
			return false
		}
	}
	return live
}

// left reports whether no pod of a shard that had a unit still has it in its list. This includes pods that are
// not live: when they return, they start with the list that they had.
func (m *Machine) left(u *unit) bool {
	u.left = slices.DeleteFunc(u.left, func(l departure) bool {
		if l.shard == u.on || l.shard == u.to || m.dead[l.shard] {
			return true
		}
		for _, p := range m.of[l.shard] {
			if p.version < l.version {
				return false
			}
		}
		return true
	})
	return len(u.left) == 0
}

// any reports whether a shard has a live replica that meets a condition.
func (m *Machine) any(shard int, meets func(*pod) bool) bool {
	for _, p := range m.of[shard] {
		if p.Live && meets(p) {
			return true
		}
	}
	return false
}

// live reports whether a shard has a live replica.
func (m *Machine) live(shard int) bool { return m.any(shard, func(*pod) bool { return true }) }

// unheard reports whether pods may have lists of an earlier leader that they have not reported.
func (m *Machine) unheard() bool {
	if m.now.Sub(m.began) >= unheardFor {
		return false
	}
	for _, p := range m.pods {
		if !p.heard && !m.dead[p.Shard] {
			return true
		}
	}
	return false
}
