package balance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// replica is a simulated pod: it receives the list of its shard, fetches it a tick later, and scrapes new targets
// another tick later.
type replica struct {
	name      string
	shard     int
	live, old bool          // old means that it is of an earlier release
	deaf      bool          // its Prometheus never scrapes new targets
	slow      time.Duration // additional ticks until its Prometheus scrapes new targets
	boot, seq uint64

	version  Version // of its list
	list     map[*Unit]bool
	fetched  Version
	since    time.Time // when it fetched that
	scraping map[*Unit]bool
	asked    bool
}

// fixture is a workload with the balancer of its leader.
type fixture struct {
	*Balancer
	t        *testing.T
	now      time.Time
	units    []*Unit
	series   map[*Unit]uint64
	interval time.Duration
	pods     []*replica
	n        int
	leader   uint64
	seq      uint64
	lists    map[int]map[*Unit]bool
	versions map[int]uint64
	watches  map[int]targetreport.Watch
	was      map[*Unit]bool // was scraped
	lost     int
	events   map[handoff.Kind]int
}

func newFixture(t *testing.T, units, shards, replicas int, settings Settings) *fixture {
	w := &fixture{Balancer: New(nil, settings), t: t, now: time.Unix(1_700_000_000, 0), series: map[*Unit]uint64{}, interval: interval, was: map[*Unit]bool{}, events: map[handoff.Kind]int{}}
	for i := range units {
		w.add(fmt.Sprintf("10.0.%d.%d:80", i/250, i%250), i%shards, uint64(100+i*7%1500))
	}
	w.scale(shards, replicas)
	w.lead()
	return w
}

func (w *fixture) add(key string, hash int, series uint64) {
	u := w.Enter("demo", "", key, hash)
	w.units = append(w.units, u)
	w.series[u] = series
}

// lead starts a new leader without any state.
func (w *fixture) lead() {
	w.leader++
	w.seq = 0
	w.lists, w.versions, w.watches = map[int]map[*Unit]bool{}, map[int]uint64{}, map[int]targetreport.Watch{}
	if w.leader > 1 {
		next := New(nil, w.settings)
		series := map[*Unit]uint64{}
		again := map[*Unit]*Unit{}
		for i, u := range w.units {
			w.units[i] = next.Enter(u.id.Namespace, "", u.id.Key, u.hash)
			series[w.units[i]], again[u] = w.series[u], w.units[i]
		}
		renamed := func(of map[*Unit]bool) map[*Unit]bool {
			out := map[*Unit]bool{}
			for u, v := range of {
				out[again[u]] = v
			}
			return out
		}
		for _, p := range w.pods {
			p.list, p.scraping = renamed(p.list), renamed(p.scraping)
		}
		w.Balancer, w.series, w.was = next, series, renamed(w.was)
	}
	for _, p := range w.pods {
		p.asked = false
	}
	w.Lead(w.now, w.leader)
}

func (w *fixture) scale(n, replicas int) {
	w.n = n
	for shard := range n {
		for r := range replicas {
			name := fmt.Sprintf("pod-%d-%d", shard, r)
			if !slices.ContainsFunc(w.pods, func(p *replica) bool { return p.name == name }) {
				w.pods = append(w.pods, &replica{name: name, shard: shard, live: true, boot: 1, scraping: map[*Unit]bool{}})
			}
		}
	}
}

// pass advances the time.
func (w *fixture) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(tick)
		w.serve()
		for _, p := range w.pods {
			w.advance(p)
		}
		w.check()
	}
}

// serve runs the service for one tick.
func (w *fixture) serve() {
	var shards []allocation.Shard
	for i := range w.Needed(w.n) {
		shards = append(shards, allocation.Shard{Name: fmt.Sprint("shard-", i)})
	}
	w.Shards(shards, w.n)
	var pods []handoff.Pod
	for _, p := range w.pods {
		pods = append(pods, handoff.Pod{Name: p.name, Shard: p.shard, Live: p.live})
	}
	w.Pods(w.now, pods, false)
	if w.Due(w.now) {
		var all []SeriesCount
		for _, u := range w.units {
			all = append(all, SeriesCount{Unit: u, Series: w.series[u], Interval: w.interval})
		}
		w.Count(w.now, all)
	}
	w.Collect(nil)
	for _, e := range w.Step(w.now) {
		w.events[e.Kind]++
	}
	if !w.Ready() {
		return
	}
	for shard := range shards {
		list := map[*Unit]bool{}
		for _, u := range w.units {
			if on, to := w.On(u); on == shard || to == shard {
				list[u] = true
			}
		}
		if w.versions[shard] == 0 || !equal(list, w.lists[shard]) {
			w.seq++
			w.lists[shard], w.versions[shard] = list, w.seq
		}
		w.Applied(shard, w.versions[shard])
	}
	of := w.Watched()
	for u := range of {
		of[u]["job"] = []string{u.id.Key}
	}
	w.watches = w.Watch(of)
}

func equal(x, y map[*Unit]bool) bool {
	for u := range x {
		if !y[u] {
			return false
		}
	}
	return len(x) == len(y)
}

// advance runs a pod for one tick.
func (w *fixture) advance(p *replica) {
	if !p.live {
		return
	}
	for u := range p.list { // scraped a tick after the list was fetched
		if p.fetched == p.version && !p.deaf && w.now.Sub(p.since) >= p.slow {
			p.scraping[u] = true
		}
	}
	if p.fetched != p.version {
		p.fetched, p.since = p.version, w.now
		for u := range p.scraping {
			if !p.list[u] {
				delete(p.scraping, u)
			}
		}
	}
	switch {
	case w.Admitted(p.name):
		if v := w.versions[p.shard]; v > 0 && (Version{w.leader, v}) != p.version {
			p.version, p.list = Version{w.leader, v}, w.lists[p.shard]
		}
	case !p.asked && p.old:
		p.asked = true
		w.RecordInventory(w.now, p.name, nil, false)
	case !p.asked:
		p.asked = true
		units := map[*Unit]bool{}
		for u := range p.list {
			units[u] = p.scraping[u]
		}
		w.RecordInventory(w.now, p.name, units, false)
	}
	p.seq++
	r := targetreport.Report{Boot: p.boot, Seq: p.seq}
	if p.old {
		r = targetreport.Report{}
	}
	watch := w.watches[p.shard]
	r.Watch = watch.Seq
	for _, unit := range watch.Units {
		for _, u := range w.units {
			if !p.old && u.id.Key == unit.Targets["job"][0] && p.scraping[u] {
				r.Scraped = append(r.Scraped, unit.ID)
			}
		}
	}
	w.Report(w.now, p.name, p.shard, p.version, p.fetched, r)
}

// check counts the units that were scraped before and that no live pod scrapes now.
func (w *fixture) check() {
	for _, u := range w.units {
		is := slices.ContainsFunc(w.pods, func(p *replica) bool { return p.live && p.scraping[u] })
		if w.was[u] && !is {
			w.lost++
		}
		w.was[u] = is
	}
}

// settle advances the time until all units are on their shards, and every list has reached its pods.
func (w *fixture) settle() {
	w.t.Helper()
	w.pass(2 * paceEvery)
	for range 3000 {
		w.pass(tick)
		if w.Ready() && w.Settled() && w.Needed(w.n) == w.n && len(w.Watched()) == 0 {
			w.pass(5 * tick)
			return
		}
	}
	w.t.Fatalf("not settled: %+v", w.Status())
}

// even checks that each unit is on one shard, and no shard has much more series than the others.
func (w *fixture) even() {
	w.t.Helper()
	w.single()
	for _, l := range w.plan.Loads() {
		if l.Over() {
			w.t.Errorf("%+v", l)
		}
	}
}

// single checks that each unit is on one shard.
func (w *fixture) single() {
	w.t.Helper()
	for _, u := range w.units {
		var on []string
		for _, p := range w.pods {
			if p.live && p.scraping[u] {
				on = append(on, p.name)
			}
		}
		shards := map[string]bool{}
		for _, name := range on {
			shards[name[:5]] = true
		}
		if len(shards) != 1 {
			w.t.Fatalf("%s is scraped by %v", u.id.Key, on)
		}
	}
}

type rooms struct {
	most int
	used map[string]int
}

func (r *rooms) Take(namespace string, n int) bool {
	if r.used[namespace]+n > r.most {
		return false
	}
	r.used[namespace] += n
	return true
}
