package handoff

import (
	"maps"
	"slices"
	"time"
)

// Times of the protocol.
const (
	// A move that takes longer than 3 intervals and a minute is reverted, and the new shard gets
	// no other unit for a while.
	timeoutIntervals = 3
	timeout          = time.Minute
	slowFor          = 10 * time.Minute
	// If a pod cannot report what it scrapes, a target counts as scraped this time and an interval after its Prometheus
	// fetched the list: its discovery manager and its scrape manager each wait up to 5 s.
	settles = 5*time.Second + 5*time.Second + 2*time.Second
	// Only one shard is given up in this time.
	giveUpEvery = 10 * time.Minute
	// A new leader waits this long for the lists that pods have.
	recoverFor = time.Minute
	// A pod that sends no report for this long after that no longer delays moves.
	unheardFor = 5 * time.Minute
)

// pod is a replica with its last report.
type pod struct {
	Pod
	boot, seq uint64
	// version of the list that its Prometheus has fetched, of this leader. fetched has the time of the
	// first report of it, for those with which units were added.
	version uint64
	fetched map[uint64]time.Time
	scraped map[ID]bool
	blind   bool
	heard   bool // it has a list of this leader
	met     bool // its inventory is known, see [Machine.Held]
}

// load is the load of a shard.
type load struct {
	on, want, moving uint64 // series
	units            int    // on it or on their way to it
}

// Machine decides which units the lists of the shards of a workload have. It is not safe for concurrent use.
type Machine struct {
	rules       Rules
	leader, seq uint64
	shards      int
	now         time.Time
	recovery    *recovery // nil once the lists of pods are known
	began       time.Time
	frozen      bool

	units   map[ID]*unit
	moving  map[ID]*unit // with a shard to
	pending map[ID]*unit // on another shard than the wanted one, and not moving
	leaving map[ID]*unit // with shards that may still have them, besides their own
	buried  map[ID]*unit // removed units that pods may still have
	order   []*unit      // pending in the order of their start; nil if not current
	pods    map[string]*pod
	of      map[int][]*pod // by shard
	loads   map[int]*load
	lists   map[int]uint64 // version of the list by shard

	slow   map[int]time.Time // until
	gone   map[int]time.Time // shards without live pods, since when
	dead   map[int]bool      // those that are given up
	gaveUp time.Time
}

// New returns the machine of a leader. Its lists are not to be served before [Machine.Ready].
func New(leader uint64, now time.Time, rules Rules) *Machine {
	return &Machine{
		rules: rules, leader: leader, now: now, began: now, recovery: &recovery{held: map[ID][]holder{}},
		units: map[ID]*unit{}, moving: map[ID]*unit{}, pending: map[ID]*unit{}, buried: map[ID]*unit{}, leaving: map[ID]*unit{},
		pods: map[string]*pod{}, loads: map[int]*load{}, lists: map[int]uint64{},
		slow: map[int]time.Time{}, gone: map[int]time.Time{}, dead: map[int]bool{},
	}
}

// Freeze stops removing units and giving up shards, while the API server cannot be read.
func (m *Machine) Freeze(frozen bool) {
	if m.frozen && !frozen {
		for shard := range m.gone { // they may have had pods in the meantime
			m.gone[shard] = m.now
		}
	}
	m.frozen = frozen
}

// SetRules replaces the settings.
func (m *Machine) SetRules(rules Rules) { m.rules = rules }

// Pods replaces the number of shards and their pods. A shard above the number that has no pods is dead.
func (m *Machine) Pods(shards int, pods []Pod) {
	had := m.pods
	m.shards = shards
	m.pods = make(map[string]*pod, len(pods))
	for _, p := range pods {
		known := had[p.Name]
		if known == nil {
			known = &pod{fetched: map[uint64]time.Time{}}
		}
		if known.Pod = p; !p.Live { // it must report again which units it scrapes
			known.scraped = nil
			clear(known.fetched)
		}
		m.pods[p.Name] = known
	}
	m.group()
}

// group updates the table of pods by shard.
func (m *Machine) group() {
	m.of = make(map[int][]*pod, m.shards)
	for _, p := range m.pods {
		m.of[p.Shard] = append(m.of[p.Shard], p)
	}
}

// Want sets the wanted shard of a unit. A new unit is placed there immediately. A unit that was removed recently, so
// that pods may still have it, first stays on its last shard.
func (m *Machine) Want(id ID, want Want) {
	u := m.units[id]
	if u == nil {
		u = &unit{id: id, on: Nowhere, to: Nowhere, want: Want{Shard: Nowhere}}
		if was := m.buried[id]; was != nil {
			u = was
			delete(m.buried, id)
			m.leaving[id] = u
		}
		m.units[id] = u
	}
	m.count(u, -1)
	u.want = want
	m.count(u, 1)
	if u.on == Nowhere && !m.left(u) {
		m.revive(u)
	}
	m.file(u)
}

// revive puts a unit on a shard whose pods still have it, on the wanted one if that is among them.
func (m *Machine) revive(u *unit) {
	on, to := u.left[0].shard, Nowhere
	for _, l := range u.left[1:] {
		if l.shard != on && (to == Nowhere || l.shard == u.want.Shard) {
			to = l.shard
		}
	}
	if on == u.want.Shard && to != Nowhere {
		on, to = to, on
	}
	m.set(u, on, to)
}

// Gone removes a unit without targets. While the machine is frozen, the unit is kept.
func (m *Machine) Gone(id ID) {
	u := m.units[id]
	if u == nil || m.frozen {
		return
	}
	m.count(u, -1)
	u.want = Want{Shard: Nowhere}
	m.count(u, 1)
	m.set(u, Nowhere, Nowhere)
	delete(m.units, id)
	delete(m.leaving, id)
	m.buried[id] = u
}

// Ready reports whether lists may be served, because the inventories of the pods are known.
func (m *Machine) Ready() bool { return m.recovery == nil }

// Serves returns the shards that have a unit in their lists; to is Nowhere unless it is on its way.
func (m *Machine) Serves(id ID) (on, to int) {
	if u := m.units[id]; u != nil && m.Ready() {
		return u.on, u.to
	}
	return Nowhere, Nowhere
}

// Since returns when the last move of a unit began, of this leader or resumed by it; the zero time if there was none.
func (m *Machine) Since(id ID) time.Time {
	if u := m.units[id]; u != nil {
		return u.since
	}
	return time.Time{}
}

// Version returns the version of the list of a shard.
func (m *Machine) Version(shard int) uint64 { return m.lists[shard] }

// Watched returns the units of a shard whose scrapes its pods must report: units that move to or from the shard,
// and units that another shard may still have.
func (m *Machine) Watched(shard int) (out []ID) {
	all := maps.Clone(m.moving)
	maps.Copy(all, m.leaving) // a unit may be in both
	for _, u := range sorted(all) {
		if u.on == shard || u.to == shard {
			out = append(out, u.id)
		}
	}
	return out
}

// Empty reports whether no unit is on a shard or moving to it, and its pods have fetched a list without its former
// units.
func (m *Machine) Empty(shard int) bool {
	if l := m.loads[shard]; l != nil && l.units > 0 {
		return false
	}
	for _, units := range []map[ID]*unit{m.leaving, m.buried} {
		for _, u := range units {
			if slices.ContainsFunc(u.left, func(l departure) bool { return l.shard == shard }) {
				return false
			}
		}
	}
	return m.Ready()
}

// Slow returns the shards that get no units for a while, because they did not scrape new ones in time.
func (m *Machine) Slow() (out []int) {
	for shard := range m.slow {
		if m.isSlow(shard) {
			out = append(out, shard)
		}
	}
	slices.Sort(out)
	return out
}

// Moving returns the units that are moving, and the number of those that wait for a move.
func (m *Machine) Moving() (moving []ID, waiting int) {
	return slices.SortedFunc(maps.Keys(m.moving), ID.Compare), len(m.pending)
}
