package handoff

import "time"

// unit is a unit with its shard, and the shard that it is moving to unless that is Nowhere.
type unit struct {
	id     ID
	on, to int
	want   Want
	since  time.Time // when it was added to shard to
	kept   uint64    // first version of the list of shard on that has it
	added  uint64    // the same for shard to
	// left are shards whose pods may still have it in their lists.
	left []departure
}

// departure is a shard whose list does not have a unit from a version on.
type departure struct {
	shard   int
	version uint64
}

// set changes the shards of a unit, and the lists that it is in.
func (m *Machine) set(u *unit, on, to int) {
	m.count(u, -1)
	for _, shard := range []int{u.on, u.to} {
		if shard != on && shard != to && m.touch(shard) {
			u.left = append(u.left, departure{shard, m.lists[shard]})
		}
	}
	kept, added := m.entered(u, on), m.entered(u, to)
	if to != u.to && to != Nowhere {
		u.since = m.now
	}
	u.on, u.to, u.kept, u.added = on, to, kept, added
	m.count(u, 1)
	m.file(u)
	if len(u.left) > 0 {
		m.leaving[u.id] = u
	}
}

// entered returns the version since which a unit is in the list of a shard, which is a new one if it is not.
func (m *Machine) entered(u *unit, shard int) uint64 {
	switch {
	case shard == Nowhere:
		return 0
	case shard == u.on:
		return u.kept
	case shard == u.to:
		return u.added
	}
	m.touch(shard)
	return m.lists[shard]
}

// touch gives the list of a shard a new version. It returns false for Nowhere.
func (m *Machine) touch(shard int) bool {
	if shard != Nowhere {
		m.seq++
		m.lists[shard] = m.seq
	}
	return shard != Nowhere
}

// file puts a unit into the tables for its state.
func (m *Machine) file(u *unit) {
	delete(m.moving, u.id)
	if _, was := m.pending[u.id]; was {
		delete(m.pending, u.id)
		m.order = nil
	}
	switch {
	case u.to != Nowhere:
		m.moving[u.id] = u
	case u.on != u.want.Shard:
		m.pending[u.id] = u
		m.order = nil
	}
}

// count adds a unit to the loads of its shards, or takes it off.
func (m *Machine) count(u *unit, times int) {
	n := u.want.Series * uint64(times) // wraps around for -1, and so does the sum
	if l := m.load(u.on); l != nil {
		l.on += n
		l.units += times
		if u.to != Nowhere {
			l.moving += n
		}
	}
	if l := m.load(u.to); l != nil {
		l.moving += n
		l.units += times
	}
	if l := m.load(u.want.Shard); l != nil {
		l.want += n
	}
}

// load returns the load of a shard; nil for Nowhere.
func (m *Machine) load(shard int) *load {
	if shard == Nowhere {
		return nil
	}
	if m.loads[shard] == nil {
		m.loads[shard] = &load{}
	}
	return m.loads[shard]
}
