package balance

import (
	"maps"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// podReport is the last report of a pod.
type podReport struct {
	seq     uint64
	scraped map[*Unit]bool
	// unanswered is true if it was about no watch: a new one has just arrived, or Prometheus did not respond.
	unanswered bool
}

// Version is a version of a list. Each leader counts its own.
type Version struct{ Leader, Seq uint64 }

// Report records the report of a pod of a shard. version is the version of its list, fetched the last version that its
// Prometheus has requested.
func (b *Balancer) Report(now time.Time, pod string, shard int, version, fetched Version, r targetreport.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.pods[pod]; !known || b.machine == nil {
		return
	}
	last := podReport{seq: r.Seq, scraped: map[*Unit]bool{}}
	out := handoff.Report{Pod: pod, Boot: r.Boot, Seq: r.Seq, Blind: r.Blind}
	if r.Boot == 0 { // an earlier release, which does not report what Prometheus has fetched
		last.seq = b.heard[pod].seq + 1
		out.Seq, out.Blind, fetched = last.seq, true, version
	}
	out.Leader, out.Version = fetched.Leader, b.version(shard, fetched.Seq)
	if w := b.watches[shard]; w != nil {
		for _, id := range r.Scraped {
			if u := w.units[id]; u != nil {
				last.scraped[u] = true
			}
		}
	}
	if was := b.heard[pod]; r.Boot != 0 && r.Watch == 0 && !was.unanswered { // the previous report is used once more
		last.unanswered = true
		maps.Copy(last.scraped, was.scraped)
	}
	b.heard[pod] = last
	for u := range last.scraped {
		out.Scraped = append(out.Scraped, u.id)
	}
	for _, id := range b.machine.Watched(shard) {
		if u := b.units[id]; u != nil && !last.scraped[u] && b.believes(now, u, shard) {
			out.Scraped = append(out.Scraped, id)
		}
	}
	b.machine.Report(out)
}

// settled is the time after which a Prometheus certainly uses a list that it has fetched.
const settled = 30 * time.Second

// believes reports whether a unit on its way to a shard counts as scraped there once the list is fetched, without a
// confirmation by its pods.
func (b *Balancer) believes(now time.Time, u *Unit, shard int) bool {
	on, to := b.machine.Serves(u.id)
	takes := now.Sub(b.machine.Since(u.id))
	if to != shard || takes < settled+min(u.interval, maxInterval) {
		return false
	}
	w := b.watches[shard]
	return u.believed || u.interval > maxInterval || b.strikes[u.id.Namespace] >= maxStrikes ||
		w != nil && w.beyond[u] || takes > lateAfter(u) && !b.scrapes(on, u)
}

// lateAfter is the time after which the machine reverts a move.
func lateAfter(u *Unit) time.Duration { return 3*min(u.interval, maxInterval) + time.Minute }

// scrapes reports whether a pod of a shard has reported that it scrapes a unit.
func (b *Balancer) scrapes(shard int, u *Unit) bool {
	for name, p := range b.pods {
		if p.Shard == shard && p.Live && b.heard[name].scraped[u] {
			return true
		}
	}
	return false
}
