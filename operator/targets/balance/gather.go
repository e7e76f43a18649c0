package balance

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// gatherFor is how long a new leader waits for the inventories of pods.
const gatherFor = time.Minute

// inventory has the units that a pod reports; nil units if it does not report any.
type inventory struct {
	units map[*Unit]bool // whether it scrapes all of their targets
	blind bool
	at    time.Time
}

// forgetAfter is the time after which the inventory of a pod that does not exist is dropped.
const forgetAfter = 5 * time.Minute

// RecordInventory records the units in the list of a pod and whether it scrapes their targets. blind is true if the pod cannot
// determine that. units is nil if the pod reports no inventory.
func (b *Balancer) RecordInventory(now time.Time, pod string, units map[*Unit]bool, blind bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.machine == nil || b.ready && b.machine.HasReported(pod) {
		return
	}
	if was, is := b.inventories[pod]; units == nil && is && was.units != nil {
		return
	}
	b.inventories[pod] = inventory{units, blind, now}
}

// unsent is the number of samples that an agent had not sent to its remote storages at a time.
type unsent struct {
	samples uint64
	at      time.Time
}

// RecordUnsent records how many samples an agent has not sent to its remote storages.
func (b *Balancer) RecordUnsent(now time.Time, pod string, samples uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, is := b.pods[pod]; is && b.machine != nil {
		b.unsent[pod] = unsent{samples, now}
	}
}

// Leaving returns the number of unsent samples of the agents of all shards from this number on, and the time of the
// oldest inventory of their pods. The time is zero if a pod has not sent one, or if there are no pods.
func (b *Balancer) Leaving(from int) (samples uint64, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, p := range b.pods {
		if p.Shard < from {
			continue
		}
		last, ok := b.unsent[name]
		if !ok {
			return samples, time.Time{}
		}
		if samples += last.samples; since.IsZero() || last.at.Before(since) {
			since = last.at
		}
	}
	return samples, since
}

// Admitted reports whether a pod may get its list, which requires that its inventory is known.
func (b *Balancer) Admitted(pod string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ready && b.machine.HasReported(pod)
}

// gather places the units on the shards whose pods have them, once the inventories of the pods are known.
func (b *Balancer) gather(now time.Time) bool {
	silent := false
	for name, p := range b.pods {
		if reported, is := b.inventories[name]; p.Live && reported.units == nil {
			if !is && now.Sub(b.began) < gatherFor {
				return false
			}
			silent = true
		}
	}
	holders := b.holders()
	b.admit()
	for _, u := range b.units {
		switch at := chosen(holders[u], b.shards); {
		case at != nowhere:
			b.plan.Assign(u.id, b.shards[at].Name)
		case silent && u.hash < len(b.shards): // where central discovery without weights places it
			b.plan.Assign(u.id, b.shards[u.hash].Name)
		}
	}
	for _, move := range b.plan.Settle(allocation.Limits{}) {
		b.units[move.ID].why = move.Why
	}
	for _, u := range b.units {
		b.want(u, u.why)
	}
	for _, name := range slices.Sorted(maps.Keys(b.inventories)) {
		b.meet(name)
	}
	b.machine.Step(now)
	b.ready = b.machine.Ready()
	b.refreshAll()
	return b.ready
}

// holder is a shard with a unit in the list of one of its pods.
type holder struct {
	shard   int
	scraped bool // by all pods that have it
}

func (b *Balancer) holders() map[*Unit][]holder {
	out := map[*Unit][]holder{}
	for name, reported := range b.inventories {
		p, known := b.pods[name]
		if !known {
			continue
		}
		shard := p.Shard
		for u, scraped := range reported.units {
			at := slices.IndexFunc(out[u], func(h holder) bool { return h.shard == shard })
			if at < 0 {
				out[u] = append(out[u], holder{shard, scraped})
			} else {
				out[u][at].scraped = out[u][at].scraped && scraped
			}
		}
	}
	return out
}

// chosen returns the shard on which a unit stays; nowhere if no shard has it. It prefers a shard that does not scrape the
// unit yet, because the last leader was moving it there.
func chosen(all []holder, shards []allocation.Shard) int {
	rank := func(h holder) int {
		switch {
		case h.shard >= len(shards) || shards[h.shard].Draining:
			return 2
		case h.scraped:
			return 1
		}
		return 0
	}
	if len(all) == 0 {
		return nowhere
	}
	best := slices.MinFunc(all, func(x, y holder) int { return cmp.Or(rank(x)-rank(y), x.shard-y.shard) })
	if best.shard >= len(shards) {
		return nowhere
	}
	return best.shard
}

// meet passes the inventory of a pod to the machine, and reports whether that changed anything.
func (b *Balancer) meet(name string) bool {
	reported := b.inventories[name]
	if _, known := b.pods[name]; !known {
		return false
	}
	if b.machine.HasReported(name) {
		delete(b.inventories, name)
		return false
	}
	var ids []allocation.ID
	for u := range reported.units {
		ids = append(ids, u.id)
	}
	slices.SortFunc(ids, allocation.ID.Compare)
	var scraped func(allocation.ID) bool
	if !reported.blind {
		scraped = func(id allocation.ID) bool { return reported.units[b.units[id]] }
	}
	b.machine.Held(name, ids, scraped)
	if b.machine.HasReported(name) {
		delete(b.inventories, name)
	}
	return true
}
