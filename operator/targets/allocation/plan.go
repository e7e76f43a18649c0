package allocation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ID identifies a unit: the targets of a namespace with the same placement key, which is __tmp_hash,
// or else the address. They are always on the same shard.
type ID struct{ Namespace, Key string }

// Compare orders units by key.
func (a ID) Compare(b ID) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Namespace, b.Namespace))
}

// Unit is a group of targets that is placed as a whole. Targets with __tmp_disable_sharding are on all shards, and
// belong to no unit.
type Unit struct {
	ID
	// Zone limits the unit to shards with the same zone. All are "" without topology sharding.
	Zone   string
	Weight Weight
}

// Shard is a shard of the workload.
type Shard struct {
	// Name of its StatefulSet. Units prefer shards by name.
	Name string
	// Zone of its pods with topology sharding.
	Zone string
	// Draining shards get no units, and those on them are placed elsewhere: the shard is about to be removed,
	// or all of its pods are gone.
	Draining bool
}

// Reason is why a unit is placed or moved.
type Reason uint8

const (
	// Place: it had no shard.
	Place Reason = iota
	// Drain: its shard is draining.
	Drain
	// Fill: another shard had too few.
	Fill
	// Relieve: its shard had too many.
	Relieve
)

func (r Reason) String() string { return [...]string{"place", "drain", "fill", "relieve"}[r] }

// Nowhere is the shard of a unit that has none.
const Nowhere = -1

// Move is a change of the shard of a unit. Shards are indices into those of SetShards.
type Move struct {
	ID
	From, To int // From may be Nowhere
	Why      Reason
	Weight   Weight
}

// Cost counts work: computed scores, and visited units and shards.
type Cost struct{ Hashes, Visits int }

// Plan has the shard of each unit. It is not safe for concurrent use.
type Plan struct {
	shards []shard
	index  map[string]int32
	zones  map[string]*zone

	// Units, by slot. Slots of removed units are reused.
	slots  map[ID]int32
	unused []int32
	ids    []ID
	hashes []uint64
	of     []*tenant // nil if unused
	on     []int32   // shard, or Nowhere
	weight []Weight
	waits  []*zone // the zone that has the slot in waiting; nil if none

	cost Cost
}

// shard is a shard with its units.
type shard struct {
	Shard
	hash    uint64
	load    uint64
	units   int
	classes [MaxWeight + 1]int32 // units by weight
}

// zone has the units that may be on the same shards.
type zone struct {
	name    string
	named   bool    // a shard has the zone
	shards  []int32 // those that do not drain
	total   uint64  // series of all units
	units   int
	classes [MaxWeight + 1]int32
	tenants map[string]*tenant
	waiting []int32 // slots of units that need a shard, and possibly of some that no longer do
}

// tenant has the units of a namespace in a zone.
type tenant struct {
	zone  *zone
	units int
	on    []int32 // units by shard
}

// New returns a plan without units.
func New(shards []Shard) *Plan {
	p := &Plan{zones: map[string]*zone{}, slots: map[ID]int32{}}
	p.SetShards(shards)
	return p
}

// SetShards replaces the shards. Units on shards that are no longer listed lose their shard; units on draining shards
// stay until the next Settle. It panics if two shards have the same name.
func (p *Plan) SetShards(shards []Shard) {
	moved := make([]int32, len(p.shards)) // new index by old one
	p.index = make(map[string]int32, len(shards))
	for i, s := range shards {
		if _, twice := p.index[s.Name]; twice {
			panic(fmt.Sprintf("two shards have the name %s", s.Name))
		}
		p.index[s.Name] = int32(i)
	}
	for i, s := range p.shards {
		moved[i] = Nowhere
		if to, ok := p.index[s.Name]; ok && shards[to].Zone == s.Zone {
			moved[i] = to
		}
	}
	p.shards = make([]shard, len(shards))
	for _, z := range p.zones {
		z.named, z.shards, z.waiting = false, nil, nil
		for _, t := range z.tenants {
			t.on = make([]int32, len(shards))
		}
	}
	for i, s := range shards {
		p.shards[i] = shard{Shard: s, hash: shardHash(s.Name)}
		z := p.zone(s.Zone)
		if z.named = true; !s.Draining {
			z.shards = append(z.shards, int32(i))
		}
	}
	p.cost.Visits += len(p.ids)
	for slot, t := range p.of {
		if t == nil {
			continue
		}
		to := int32(Nowhere)
		if at := p.on[slot]; at != Nowhere {
			to = moved[at]
		}
		p.on[slot], p.waits[slot] = Nowhere, nil
		p.assign(int32(slot), to)
	}
	for name := range p.zones {
		p.forget(name)
	}
}

// zone returns a zone, which is added if it is new.
func (p *Plan) zone(name string) *zone {
	z := p.zones[name]
	if z == nil {
		z = &zone{name: name, tenants: map[string]*tenant{}}
		p.zones[name] = z
	}
	return z
}

// forget removes a zone that has neither units nor shards, because tenants can choose names of zones.
func (p *Plan) forget(name string) {
	if z := p.zones[name]; z.units == 0 && !z.named {
		delete(p.zones, name)
	}
}

// Grow reserves memory for more units.
func (p *Plan) Grow(units int) {
	more := units - len(p.unused)
	if more <= 0 {
		return
	}
	p.ids, p.hashes, p.of = slices.Grow(p.ids, more), slices.Grow(p.hashes, more), slices.Grow(p.of, more)
	p.on, p.weight, p.waits = slices.Grow(p.on, more), slices.Grow(p.weight, more), slices.Grow(p.waits, more)
	if more > len(p.slots) {
		slots := make(map[ID]int32, len(p.slots)+more)
		maps.Copy(slots, p.slots)
		p.slots = slots
	}
}

// Put adds a unit, or replaces its weight and zone. A new unit, or one with a new zone, has no shard.
func (p *Plan) Put(u Unit) {
	u.Weight = min(u.Weight, MaxWeight)
	z := p.zone(u.Zone)
	slot, known := p.slots[u.ID]
	if known && p.of[slot].zone == z {
		p.reweigh(slot, u.Weight)
		return
	}
	if known {
		p.Remove(u.ID)
	}
	t := z.tenants[u.Namespace]
	if t == nil {
		t = &tenant{zone: z, on: make([]int32, len(p.shards))}
		z.tenants[u.Namespace] = t
	}
	if n := len(p.unused); n > 0 {
		slot, p.unused = p.unused[n-1], p.unused[:n-1]
		p.ids[slot], p.hashes[slot], p.of[slot], p.on[slot], p.weight[slot] = u.ID, keyHash(u.Key), t, Nowhere, u.Weight
	} else {
		slot = int32(len(p.ids))
		p.ids, p.hashes, p.of = append(p.ids, u.ID), append(p.hashes, keyHash(u.Key)), append(p.of, t)
		p.on, p.weight, p.waits = append(p.on, Nowhere), append(p.weight, u.Weight), append(p.waits, nil)
	}
	p.slots[u.ID] = slot
	t.units++
	z.units++
	z.total += u.Weight.Series()
	z.classes[u.Weight]++
	p.wait(slot)
}

// Remove removes a unit.
func (p *Plan) Remove(id ID) {
	slot, ok := p.slots[id]
	if !ok {
		return
	}
	p.take(slot)
	t := p.of[slot]
	t.zone.units--
	t.zone.total -= p.weight[slot].Series()
	t.zone.classes[p.weight[slot]]--
	if t.units--; t.units == 0 {
		delete(t.zone.tenants, id.Namespace)
		p.forget(t.zone.name)
	}
	delete(p.slots, id)
	p.ids[slot], p.of[slot] = ID{}, nil
	p.unused = append(p.unused, slot)
}

// Assign records that a unit is already on a shard, as its pods report. It returns false, and changes nothing,
// if the unit or shard does not exist, or the unit may not be on it.
func (p *Plan) Assign(id ID, name string) bool {
	slot, ok := p.slots[id]
	at, is := p.index[name]
	if !ok || !is || p.zones[p.shards[at].Zone] != p.of[slot].zone {
		return false
	}
	p.take(slot)
	p.assign(slot, at)
	return true
}

// On returns the shard of a unit, or Nowhere.
func (p *Plan) On(id ID) int {
	if slot, ok := p.slots[id]; ok {
		return int(p.on[slot])
	}
	return Nowhere
}

// Cost returns the work of all calls since the plan was created.
func (p *Plan) Cost() Cost { return p.cost }

// reweigh replaces the weight of a unit.
func (p *Plan) reweigh(slot int32, w Weight) {
	was, z, at := p.weight[slot], p.of[slot].zone, p.on[slot]
	if w == was {
		return
	}
	p.weight[slot] = w
	z.total += w.Series() - was.Series()
	z.classes[was]--
	z.classes[w]++
	if at != Nowhere {
		s := &p.shards[at]
		s.load += w.Series() - was.Series()
		s.classes[was]--
		s.classes[w]++
	}
}

// assign puts a unit that is nowhere on a shard, or nowhere again.
func (p *Plan) assign(slot, to int32) {
	p.on[slot] = to
	if to == Nowhere {
		p.wait(slot)
		return
	}
	s := &p.shards[to]
	s.load += p.weight[slot].Series()
	s.units++
	s.classes[p.weight[slot]]++
	p.of[slot].on[to]++
	if s.Draining {
		p.wait(slot)
	}
}

// take removes a unit from its shard.
func (p *Plan) take(slot int32) {
	at := p.on[slot]
	if at == Nowhere {
		return
	}
	s := &p.shards[at]
	s.load -= p.weight[slot].Series()
	s.units--
	s.classes[p.weight[slot]]--
	p.of[slot].on[at]--
	p.on[slot] = Nowhere
}

// move moves a unit.
func (p *Plan) move(slot, to int32, why Reason) Move {
	from := p.on[slot]
	p.take(slot)
	p.assign(slot, to)
	return Move{ID: p.ids[slot], From: int(from), To: int(to), Why: why, Weight: p.weight[slot]}
}

// wait records that a unit needs a shard.
func (p *Plan) wait(slot int32) {
	z := p.of[slot].zone
	if p.waits[slot] == z {
		return
	}
	if len(z.waiting) > 2*z.units+64 { // units of a zone without shards that come and go
		z.waiting = p.waitingIn(z)
		for _, slot := range z.waiting {
			p.waits[slot] = z
		}
	}
	p.waits[slot] = z
	z.waiting = append(z.waiting, slot)
}

// waitingIn clears the list of waiting units of a zone, and returns those that still need a shard.
func (p *Plan) waitingIn(z *zone) (out []int32) {
	p.cost.Visits += len(z.waiting)
	for _, slot := range z.waiting {
		if p.waits[slot] != z {
			continue // twice in the list, or in that of another zone
		}
		p.waits[slot] = nil
		if t := p.of[slot]; t != nil && t.zone == z && (p.on[slot] == Nowhere || p.shards[p.on[slot]].Draining) {
			out = append(out, slot)
		}
	}
	z.waiting = nil
	return out
}
