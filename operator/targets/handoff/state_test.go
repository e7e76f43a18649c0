package handoff

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

func (w *state) clone() *state {
	out := *w
	out.m = w.m.clone()
	out.pods = slices.Clone(w.pods)
	out.unit = slices.Clone(w.unit)
	for u := range out.unit {
		out.unit[u].late = maps.Clone(out.unit[u].late)
	}
	return &out
}

func (m *Machine) clone() *Machine {
	out := *m
	if m.recovery != nil {
		out.recovery = &recovery{held: map[ID][]holder{}}
		for id, holders := range m.recovery.held {
			out.recovery.held[id] = slices.Clone(holders)
		}
	}
	out.units, out.moving, out.pending, out.order, out.buried = map[ID]*unit{}, map[ID]*unit{}, map[ID]*unit{}, nil, map[ID]*unit{}
	out.leaving = map[ID]*unit{}
	for id, u := range m.units {
		own := *u
		own.left = slices.Clone(u.left)
		out.units[id] = &own
		if m.moving[id] != nil {
			out.moving[id] = &own
		}
		if m.pending[id] != nil {
			out.pending[id] = &own
		}
		if m.leaving[id] != nil {
			out.leaving[id] = &own
		}
	}
	for id, u := range m.buried {
		own := *u
		own.left = slices.Clone(u.left)
		out.buried[id] = &own
	}
	out.pods = make(map[string]*pod, len(m.pods))
	for name, p := range m.pods {
		own := *p
		own.fetched = maps.Clone(p.fetched) // scraped is never changed
		out.pods[name] = &own
	}
	out.group()
	out.loads = make(map[int]*load, len(m.loads))
	for shard, l := range m.loads {
		own := *l
		out.loads[shard] = &own
	}
	out.lists, out.slow, out.gone, out.dead = maps.Clone(m.lists), maps.Clone(m.slow), maps.Clone(m.gone), maps.Clone(m.dead)
	return &out
}

// key returns a hash of a state, in which versions and times are relative: states that differ in nothing else continue
// in the same way.
func (w *state) key() uint64 {
	k := key{w: w}
	k.versions()
	k.machine()
	for i, p := range w.pods {
		k.flag(p.up, p.ghost)
		k.snapshot(p.snapshot)
		k.num(p.scraped)
		k.flag(p.wire != nil, p.net != nil)
		if p.wire != nil {
			k.snapshot(*p.wire)
		}
		known := w.m.pods[podName[i]]
		k.flag(known != nil, known != nil && known.boot < p.boot)
		if p.net != nil && known != nil {
			k.flag(p.net.Boot < known.boot, p.net.Boot > known.boot, p.net.Boot == known.boot && p.net.Seq > known.seq)
			k.snapshot(snapshot{leader: p.net.Leader, version: p.net.Version})
			for _, id := range p.net.Scraped {
				k.num(uint64(slices.Index(w.units, id.Key)))
			}
			k.num(99)
		}
	}
	for _, v := range w.unit {
		k.num(uint64(v.want + 1))
		k.flag(v.gone, v.seen, v.excused, v.moved, v.back)
		for a := range w.shards {
			for b := range w.shards {
				if since, ok := v.late[[2]int{a, b}]; ok {
					k.num(uint64(100 + 10*a + b))
					k.num(uint64(since))
				}
			}
		}
	}
	k.flag(w.api)
	k.num(uint64(w.left))
	return xxhash.Sum64(k.out)
}

type key struct {
	w      *state
	leader []uint64
	ranks  []uint64
	out    []byte
}

func (k *key) num(n uint64) { k.out = binary.AppendUvarint(k.out, n) }

func (k *key) flag(flags ...bool) {
	for _, f := range flags {
		k.out = append(k.out, map[bool]byte{true: 1}[f])
	}
}

// since writes a time relative to now, in ticks, at most 30.
func (k *key) since(t time.Time) {
	d := k.w.now.Sub(t) / tick
	k.num(uint64(100 + min(max(d, -30), 30)))
}

func (k *key) snapshot(s snapshot) {
	at, _ := slices.BinarySearch(k.leader, s.leader)
	k.num(uint64(at))
	if s.leader == k.w.m.leader {
		k.version(s.version)
	}
	k.num(s.list)
	k.num(s.gone)
}

func (k *key) version(v uint64) {
	at, _ := slices.BinarySearch(k.ranks, v)
	k.num(uint64(at))
}

// versions collects all versions of the leader, and all leaders.
func (k *key) versions() {
	m := k.w.m
	add := func(s snapshot) {
		k.leader = append(k.leader, s.leader)
		if s.leader == m.leader {
			k.ranks = append(k.ranks, s.version)
		}
	}
	for _, p := range k.w.pods {
		add(p.snapshot)
		if p.wire != nil {
			add(*p.wire)
		}
		if p.net != nil {
			add(snapshot{leader: p.net.Leader, version: p.net.Version})
		}
	}
	for _, units := range []map[ID]*unit{m.units, m.buried} {
		for _, u := range units {
			k.ranks = append(k.ranks, u.added, u.kept)
			for _, l := range u.left {
				k.ranks = append(k.ranks, l.version)
			}
		}
	}
	for _, p := range m.pods {
		k.ranks = append(k.ranks, p.version)
	}
	for _, v := range m.lists {
		k.ranks = append(k.ranks, v)
	}
	k.leader = append(k.leader, m.leader)
	slices.Sort(k.leader)
	slices.Sort(k.ranks)
	k.leader, k.ranks = slices.Compact(k.leader), slices.Compact(k.ranks)
}

func (k *key) machine() {
	m := k.w.m
	k.flag(m.recovery != nil, m.frozen)
	k.since(m.began)
	for u := range k.w.unit {
		id := k.w.id(u)
		for _, units := range []map[ID]*unit{m.units, m.buried} {
			x := units[id]
			k.flag(x != nil)
			if x == nil {
				continue
			}
			k.num(uint64(x.on + 1))
			k.num(uint64(x.to + 1))
			k.num(uint64(x.want.Shard + 1))
			if x.to != Nowhere {
				k.since(x.since)
				k.version(x.added)
			}
			k.version(x.kept)
			for _, l := range x.left {
				k.num(uint64(50 + l.shard))
				k.version(l.version)
			}
		}
		if m.recovery != nil {
			for _, h := range m.recovery.held[id] {
				k.num(uint64(70 + h.shard))
				k.flag(h.scraped)
			}
		}
	}
	for i := range k.w.pods {
		name := podName[i]
		p := m.pods[name]
		k.flag(p != nil)
		if p == nil {
			continue
		}
		k.flag(p.Live, p.heard, p.met)
		k.version(p.version)
		for u := range k.w.unit {
			k.flag(p.scraped[k.w.id(u)])
		}
	}
	for shard := range k.w.shards {
		k.version(m.lists[shard])
		k.flag(m.dead[shard])
		k.since(m.slow[shard])
		k.since(m.gone[shard])
	}
	k.since(m.gaveUp)
}
