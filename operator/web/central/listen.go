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
	out := &taker{by: by, from: from, blind: head.Blind, unsent: head.Unsent, jobs: map[string]*observed{}, units: map[*balance.Unit]bool{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workloads[from.Shard.Workload]; w != nil && w.by == by {
		for name, j := range w.jobs {
			out.jobs[name] = j.observed
		}
	}
	return out
}

// taker takes the inventory of a pod. It keeps what belongs to units, however much a pod sends.
type taker struct {
	by     *balance.Balancer
	from   feed.Sender
	blind  bool
	unsent *uint64
	jobs   map[string]*observed
	units  map[*balance.Unit]bool

	name   string // of the current job
	job    *observed
	census feed.Census
}

// Take implements [feed.InventoryTaker].
func (t *taker) Take(now time.Time, job, address string, one targetreport.InventoryTarget) {
	if t.job == nil || job != t.name {
		t.name, t.job = job, t.jobs[job]
		if t.job == nil {
			return
		}
		delete(t.jobs, job) // once: each time, all targets of the job are looked through
		t.job.mu.Lock()
		t.census = t.job.targets.Census()
		t.job.mu.Unlock()
	}
	t.job.mu.Lock()
	defer t.job.mu.Unlock()
	for _, u := range t.census.Note(now, address, one.Series) {
		scraped, twice := t.units[u]
		t.units[u] = one.Scraped && (scraped || !twice)
	}
}

// Done implements [feed.InventoryTaker].
func (t *taker) Done(now time.Time) {
	t.by.Told(now, string(t.from.UID), t.units, t.blind)
	if t.unsent != nil {
		t.by.Unsent(now, string(t.from.UID), *t.unsent)
	}
}
