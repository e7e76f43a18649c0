package balance

import (
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// nowhere is the shard of a unit that has none.
const nowhere = allocation.Nowhere

// Budget limits the memory of the units of all workloads, by namespace.
type Budget interface {
	// Take reserves bytes, or releases them if n is negative. It returns false if the namespace may not have them.
	Take(namespace string, n int) bool
}

// unitBytes is the approximate memory of a unit in this package, the plan and the machine, without its key; targetBytes
// is that of each of its targets, including in the caller.
const (
	unitBytes   = 600
	targetBytes = 128
)

// Unit are the targets of a namespace with the same placement key.
type Unit struct {
	id     allocation.ID
	zone   string
	number uint64 // its ID in watches
	refs   int    // its targets

	planned bool // the plan and the machine have it

	hash    int // its shard by hash
	on, to  int // the shards with it in their lists
	changed uint64
	why     allocation.Reason

	weight   allocation.Weight
	series   uint64        // of the current count
	interval time.Duration // the longest of its targets
	// believed is true if moves do not wait until a shard scrapes it.
	believed bool
}

// Enter adds a target of a namespace to the unit with its placement key, and returns the unit. hash is the shard of the
// target by hash. It returns nil if there is no room for another unit of the namespace; the target must then be on that
// shard.
func (b *Balancer) Enter(namespace, zone, key string, hash int) *Unit {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := allocation.ID{Namespace: namespace, Key: key}
	if zone != "" {
		id.Key = zone + "/" + key // because a unit of another zone is on other shards
	}
	u, n := b.units[id], targetBytes
	if u == nil {
		n += unitBytes + len(id.Key)
	}
	if !b.take(namespace, n) {
		return nil
	}
	if u == nil {
		b.numbers++
		u = &Unit{id: id, zone: zone, number: b.numbers, on: hash, to: nowhere, weight: allocation.WeightOf(allocation.Estimate(nil, nil, nil))}
		b.units[id] = u
		b.fresh = append(b.fresh, u)
	}
	if u.hash = hash; u.refs == 0 {
		delete(b.idle, u)
	}
	u.refs++
	return u
}

// Leave removes a target of a unit.
func (b *Balancer) Leave(u *Unit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(u.id.Namespace, -targetBytes)
	if u.refs--; u.refs == 0 {
		b.idle[u] = true
	}
}

// On returns the shards with a unit in their lists; to is nowhere unless it is on its way there.
func (b *Balancer) On(u *Unit) (on, to int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return u.on, u.to
}

// Changes returns a number that grows when units move.
func (b *Balancer) Changes() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changes
}

// Moved reports whether a unit moved since [Balancer.Changes] returned this number.
func (b *Balancer) Moved(u *Unit, since uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return u.changed > since
}

// Collect removes units without targets, except those of namespaces whose targets are not all known.
func (b *Balancer) Collect(unknown map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frozen {
		return
	}
	for u := range b.idle {
		if !unknown[u.id.Namespace] {
			b.forget(u)
		}
	}
}

func (b *Balancer) forget(u *Unit) {
	delete(b.idle, u)
	delete(b.units, u.id)
	b.plan.Remove(u.id)
	if b.machine != nil {
		b.machine.Gone(u.id)
	}
	b.take(u.id.Namespace, -unitBytes-len(u.id.Key))
}

// Close releases all memory.
func (b *Balancer) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for namespace, n := range b.used {
		b.take(namespace, -n)
	}
	b.budget = nil
}

func (b *Balancer) take(namespace string, n int) bool {
	if b.budget == nil {
		return true
	}
	if !b.budget.Take(namespace, n) {
		return false
	}
	b.used[namespace] += n
	return true
}

// SeriesCount are the series of a target of a unit, and its interval.
type SeriesCount struct {
	Unit   *Unit
	Series uint64
	// Estimated is true if no pod has counted them yet.
	Estimated bool
	Interval  time.Duration
}

// Count adds up the series of all targets by unit. The weight of a unit changes only if its series change enough.
func (b *Balancer) Count(now time.Time, all []SeriesCount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = now
	for _, u := range b.units {
		u.series, u.interval = 0, 0
	}
	b.measured = 0
	for _, c := range all {
		if !c.Estimated {
			b.measured += min(c.Series, allocation.MaxWeight.Series())
		}
		c.Unit.series += min(c.Series, allocation.MaxWeight.Series())
		c.Unit.interval = max(c.Unit.interval, c.Interval)
	}
	for _, u := range b.units {
		if w := u.weight.Follow(u.series); u.refs > 0 && w != u.weight {
			u.weight = w
			b.reweigh(u)
		}
	}
}

// Due reports whether units should be counted.
func (b *Balancer) Due(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	age := now.Sub(b.counted)
	return age >= countEvery || len(b.fresh) > 0 && age >= countFresh || b.machine != nil && !b.ready // pods report their series at the moment
}

const (
	// countEvery is how often units are counted, countFresh if there are new ones.
	countEvery = time.Minute
	countFresh = 5 * time.Second
)

// reweigh passes the weight of a unit to the plan and the machine, if they have the unit.
func (b *Balancer) reweigh(u *Unit) {
	if u.planned {
		b.plan.Put(allocation.Unit{ID: u.id, Zone: u.zone, Weight: u.weight})
		b.want(u, u.why)
	}
}
