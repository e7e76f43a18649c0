package central

import (
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

var _ feed.Listener = (*Runner)(nil)

// Reported implements [feed.Listener].
func (r *Runner) Reported(now time.Time, from feed.Sender, version, fetched feed.Version, report targetreport.Report) {
	if by := r.balancer(from.Shard.Workload); by != nil {
		by.Report(now, string(from.UID), from.Shard.Number, balance.Version(version), balance.Version(fetched), report)
	}
}

// Inventory implements [feed.Listener].
func (r *Runner) Inventory(from feed.Sender, head targetreport.Inventory) feed.InventoryTaker {
	by := r.balancer(from.Shard.Workload)
	if by == nil || from.Shard.Number == feed.Retired {
		return nil
	}
	out := &taker{runner: r, by: by, from: from, blind: head.Blind, unsent: head.Unsent, jobs: map[string]*observedTargets{}, units: map[*balance.Unit]bool{}, seen: map[string]*observedTargets{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workloads[from.Shard.Workload]; w != nil && w.by == by {
		for name, j := range w.jobs {
			out.jobs[name] = j.observedTargets
		}
	}
	return out
}

// recognizes reports whether all targets of the jobs in an inventory were known when it began, and still are. Unknown
// targets would be placed on another shard while a pod has them.
func (r *Runner) recognizes(t *taker) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workloads[t.from.Shard.Workload]
	if w == nil || w.by != t.by {
		return true // the pod has left
	}
	for name, before := range t.seen {
		j := w.jobs[name]
		if j != nil && (j.observedTargets != before || !j.Set.Known()) {
			return false
		}
	}
	return true
}

// taker receives the inventory of a pod. It keeps only units and their addresses, so its memory does not depend on the
// content of the inventory.
type taker struct {
	runner *Runner
	by     *balance.Balancer
	from   feed.Sender
	blind  bool
	unsent *uint64
	jobs   map[string]*observedTargets
	units  map[*balance.Unit]bool
	seen   map[string]*observedTargets // jobs in the inventory; nil for those that were not known

	name   string // of the current job
	job    *observedTargets
	census feed.Census
}

// Take implements [feed.InventoryTaker].
func (t *taker) Take(now time.Time, job, address string, one targetreport.InventoryTarget) {
	if t.job == nil || job != t.name {
		t.name, t.job = job, t.jobs[job]
		if t.job == nil {
			t.see(job)
			return
		}
		t.seen[job] = t.job
		delete(t.jobs, job) // a job is taken once
		t.job.mu.Lock()
		t.census = t.job.targets.Census(feed.HalfLife / time.Duration(max(1, t.runner.Speed)))
		t.job.mu.Unlock()
	}
	t.job.mu.Lock()
	defer t.job.mu.Unlock()
	for _, u := range t.census.Note(now, address, one.Series) {
		scraped, twice := t.units[u]
		t.units[u] = one.Scraped && (scraped || !twice)
	}
}

// maxUnknown is the maximum number of unknown jobs of an inventory that are kept while it is read.
const maxUnknown = 1000

// see records an unknown job.
func (t *taker) see(job string) {
	if _, known := t.seen[job]; !known && len(t.seen) < maxUnknown {
		t.seen[job] = nil
	}
}

// Done implements [feed.InventoryTaker].
func (t *taker) Done(now time.Time) bool {
	pod := string(t.from.UID)
	if !t.by.Admitted(pod) && !t.runner.recognizes(t) {
		return false
	}
	t.by.RecordInventory(now, pod, t.units, t.blind)
	if t.unsent != nil {
		t.by.RecordUnsent(now, pod, *t.unsent)
	}
	return true
}
