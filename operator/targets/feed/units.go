package feed

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// balancedTarget is a target whose shards a balancer decides.
type balancedTarget struct {
	unit     *balance.Unit // nil: it is on fixed shards
	fixed    []int
	address  string
	size     int
	interval time.Duration
	claim    *uint64
	// counted is the number of series of its scrapes, averaged over time; negative if it is unknown.
	counted float64
	at      time.Time // of the last count
	// prev and next are other targets of the job with the same address.
	prev, next *balancedTarget
}

// HalfLife is the usual time after which a count of series has half of its weight.
const HalfLife = time.Hour

// members returns the members of a group, which enter their units; nil if no shard scrapes a target of it.
func (t *Targets) members(of *targetgroup.Group, outcomes []targets.Outcome, labels []model.LabelSet, sizes []int, before *group) []balancedTarget {
	var out []balancedTarget
	known := map[string]*balancedTarget{}
	for i := range before.members {
		known[before.members[i].address] = &before.members[i]
	}
	for i, o := range outcomes {
		if o.State != targets.Kept || sizes[i] > maxTarget {
			continue
		}
		if out == nil {
			out = make([]balancedTarget, len(outcomes))
		}
		m := &out[i]
		*m = balancedTarget{fixed: o.Shards, address: string(labels[i][model.AddressLabel]), size: sizes[i], counted: -1}
		if was := known[m.address]; was != nil {
			m.counted, m.at = was.counted, was.at
		}
		p, movable := t.job.Place(of.Targets[i], of.Labels, o)
		if m.interval, m.claim = p.Interval, p.Claim; movable && !p.Everywhere && len(o.Shards) == 1 {
			m.unit = t.by.Enter(t.namespace, p.Zone, p.Key, o.Shards[0])
		}
	}
	return out
}

// leave removes the members of a group that was replaced from their units.
func (t *Targets) leave(g *group) {
	for i := range g.members {
		if u := g.members[i].unit; u != nil {
			t.by.Leave(u)
		}
	}
}

// place returns the members by shard. As long as the balancer has not decided, the shard of a unit may have no line: the
// shard of its hash has the unit then, so that its targets are kept.
func (t *Targets) place(members []balancedTarget) [][]int {
	out := make([][]int, t.shards)
	for i := range members {
		m := &members[i]
		on := m.fixed
		if m.unit != nil {
			from, to := t.by.On(m.unit)
			if placed := slices.DeleteFunc([]int{from, to}, func(shard int) bool { return shard < 0 || shard >= t.shards }); len(placed) > 0 {
				on = placed
			}
		}
		for _, shard := range on {
			out[shard] = append(out[shard], i)
		}
	}
	return out
}

// Shards returns the number of lines.
func (t *Targets) Shards() int { return t.shards }

// Grow adds lines until there is one for each shard. A removed shard keeps its line while it has units.
func (t *Targets) Grow(shards int) {
	for t.by != nil && t.shards < shards {
		t.limits, t.raw, t.used, t.dirty = append(t.limits, maxLine), append(t.raw, 0), append(t.used, 0), append(t.dirty, true)
		t.shards++
		t.placed = 0 // units may be on it
	}
}

// Relocate puts the targets of units that moved into the lines of their shards.
func (t *Targets) Relocate() {
	if t.by == nil {
		return
	}
	since, now := t.placed, t.by.Changes()
	if since == now && since > 0 {
		return
	}
	t.placed = now
	for key, g := range t.groups {
		if since == 0 || t.moved(g, since) {
			t.relocate(key, g)
		}
	}
}

func (t *Targets) moved(g *group, since uint64) bool {
	for i := range g.members {
		if u := g.members[i].unit; u != nil && t.by.Moved(u, since) {
			return true
		}
	}
	return false
}

func (t *Targets) relocate(key targetset.Key, before *group) {
	if before.members == nil {
		return
	}
	next := &group{encoded: slices.Clone(before.encoded), shards: t.place(before.members), size: make([]int, t.shards), in: make([]bool, t.shards),
		unknown: before.unknown, oversized: before.oversized, members: before.members}
	for shard, on := range next.shards {
		for _, i := range on {
			next.size[shard] += next.members[i].size + 1
		}
	}
	t.choose(before, next, false, func(shard int) bool { // targets that are not encoded must be put again
		return slices.ContainsFunc(next.shards[shard], func(i int) bool { return next.encoded[i] == nil })
	})
	next.trim()
	t.replace(key, before, next)
}

// Counted returns the series of the targets whose units can move. Targets with unknown series count like the median of
// the job.
func (t *Targets) Counted() (out []balance.SeriesCount) {
	var known []float64
	for _, g := range t.groups {
		for i := range g.members {
			if m := &g.members[i]; m.unit != nil && m.counted >= 0 {
				known = append(known, m.counted)
			}
		}
	}
	var median *uint64
	if len(known) > 0 {
		slices.Sort(known)
		median = new(series(known[len(known)/2]))
	}
	for _, g := range t.groups {
		for i := range g.members {
			m := &g.members[i]
			if m.unit == nil {
				continue
			}
			var counted *uint64
			if m.counted >= 0 {
				counted = new(series(m.counted))
			}
			out = append(out, balance.SeriesCount{Unit: m.unit, Series: allocation.Estimate(m.claim, counted, median), Estimated: counted == nil, Interval: m.interval})
		}
	}
	return out
}

func series(n float64) uint64 { return uint64(math.Round(n)) }

// Addresses adds the addresses of the targets of some units.
func (t *Targets) Addresses(of map[*balance.Unit]balance.Addresses) {
	for _, g := range t.groups {
		for i := range g.members {
			m := &g.members[i]
			if all := of[m.unit]; all != nil && m.unit != nil {
				all[t.name] = append(all[t.name], m.address)
			}
		}
	}
	for _, all := range of {
		if listed := all[t.name]; len(listed) > 0 {
			slices.Sort(listed)
			all[t.name] = slices.Compact(listed)
		}
	}
}

// byAddress has the targets of a job that a balancer places.
type byAddress map[string]*balancedTarget

// replace replaces the members of a group.
func (b byAddress) replace(before, next []balancedTarget) {
	if len(before) > 0 && len(next) > 0 && &before[0] == &next[0] {
		return
	}
	for i := range before {
		if m := &before[i]; m.unit != nil {
			b.remove(m)
		}
	}
	for i := range next {
		if m := &next[i]; m.unit != nil {
			b.add(m)
		}
	}
}

func (b byAddress) add(m *balancedTarget) {
	if m.next = b[m.address]; m.next != nil {
		m.next.prev = m
	}
	m.prev, b[m.address] = nil, m
}

func (b byAddress) remove(m *balancedTarget) {
	if m.next != nil {
		m.next.prev = m.prev
	}
	switch {
	case m.prev != nil:
		m.prev.next = m.next
	case m.next != nil:
		b[m.address] = m.next
	default:
		delete(b, m.address)
	}
}

// Census collects one report of a pod about the targets of a job.
type Census struct {
	by       byAddress
	halfLife time.Duration
	// noted are the addresses with units that were in the report. Any number of targets may have one address, so each
	// is recorded once, however often a pod reports it.
	noted map[string]bool
}

// Census returns a census of the job, in which a count has half of its weight after a time. Its methods and those of t must
// not be called concurrently.
func (t *Targets) Census(halfLife time.Duration) Census {
	return Census{t.addresses, halfLife, map[string]bool{}}
}

// Note returns the units with a discovered address, and notes the series of its targets, nil if they are unknown. It
// returns none for an address that was noted before.
func (c Census) Note(now time.Time, address string, series *uint64) (units []*balance.Unit) {
	if c.noted[address] {
		return nil
	}
	equal := 0
	for m := c.by[address]; m != nil; m = m.next {
		equal++
	}
	for m := c.by[address]; m != nil; m = m.next {
		units = append(units, m.unit)
		if series == nil {
			continue
		}
		n := float64(*series) / float64(equal)
		if m.counted >= 0 {
			n += (m.counted - n) * math.Exp2(-float64(now.Sub(m.at))/float64(c.halfLife))
		}
		m.counted, m.at = n, now
	}
	if len(units) > 0 {
		c.noted[address] = true
	}
	return units
}
