package balance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

const (
	interval = 15 * time.Second
	tick     = 2 * time.Second
)

// While shards change, each target stays scraped, with one and with two replicas, and the load of shards is evened out.
func TestShardsChange(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		w := newFixture(t, 300, 2, replicas, Settings{Weighted: true, ReassignAfter: 5 * time.Minute})
		w.settle()
		w.even()
		for _, n := range []int{3, 5, 3, 2} {
			w.scale(n, replicas)
			w.settle()
			w.pods = slices.DeleteFunc(w.pods, func(p *replica) bool {
				if p.shard >= n && len(p.scraping) > 0 {
					t.Errorf("%s is removed with %d targets", p.name, len(p.scraping))
				}
				return p.shard >= n
			})
			w.even()
		}
		if w.lost > 0 || w.events[handoff.Done] < 300 || w.events[handoff.Slow] > 0 || w.events[handoff.Direct] > 0 {
			t.Errorf("%d targets lost, events %v", w.lost, w.events)
		}
	}
}

// A new leader continues from the units that pods report: it loses nothing in the middle of moves, and moves nothing
// otherwise.
func TestLeaderChanges(t *testing.T) {
	w := newFixture(t, 200, 2, 2, Settings{Weighted: true})
	w.settle()
	before := w.events[handoff.Started]
	places := map[string]int{}
	for _, u := range w.units {
		places[u.id.Key], _ = w.On(u)
	}
	w.lead()
	w.settle()
	for _, u := range w.units {
		if on, _ := w.On(u); on != places[u.id.Key] {
			t.Errorf("%s moved from %d to %d", u.id.Key, places[u.id.Key], on)
		}
	}
	if n := w.events[handoff.Started] - before; n > 0 {
		t.Errorf("%d moves without a reason", n)
	}
	w.scale(3, 2)
	for range 20 {
		w.pass(20 * time.Second)
		w.lead()
	}
	w.settle()
	w.even()
	if w.lost > 0 {
		t.Errorf("%d targets lost", w.lost)
	}
}

// A unit that a new leader finds in two lists stays on the shard that scrapes it until the other one does.
func TestLeaderChangesBeforeAScrape(t *testing.T) {
	for _, ticks := range []int{2, 3, 5, 8, 12} {
		w := newFixture(t, 200, 2, 1, Settings{Weighted: true})
		w.settle()
		w.scale(3, 1)
		for _, p := range w.pods {
			p.slow = interval
		}
		for range 20 {
			w.pass(time.Duration(ticks) * tick)
			for _, u := range w.units {
				if u.believed {
					t.Errorf("%s, which pods report, counts as scraped without a report", u.id.Key)
				}
			}
			w.lead()
		}
		w.settle()
		w.even()
		if w.lost > 0 {
			t.Errorf("a new leader every %d ticks: %d targets lost, events %v", ticks, w.lost, w.events)
		}
	}
}

// When the placement changes from hash to series and back, units only move with an overlap, also with pods that do not
// report their units.
func TestFromHashAndBack(t *testing.T) {
	for _, old := range []bool{false, true} {
		w := newFixture(t, 200, 4, 1, Settings{})
		for _, p := range w.pods {
			p.old = old
			p.list, p.scraping, p.version = map[*Unit]bool{}, map[*Unit]bool{}, Version{0, 1}
			for _, u := range w.units {
				if u.hash == 0 {
					w.series[u] = 4000
				}
				if u.hash == p.shard {
					p.list[u], p.scraping[u] = true, true
				}
			}
		}
		w.lead()
		for _, weighted := range []bool{true, false} {
			w.Set(Settings{Weighted: weighted})
			w.settle()
			w.pass(30 * time.Minute)
			w.settle()
			w.single()
			if weighted {
				w.even()
			}
		}
		for _, u := range w.units {
			if on, to := w.On(u); on != u.hash || to != nowhere {
				t.Errorf("%s is on %d and %d, its hash is %d", u.id.Key, on, to, u.hash)
			}
		}
		if w.lost > 0 || w.events[handoff.Done] == 0 || w.events[handoff.Back]+w.events[handoff.Direct] > 0 {
			t.Errorf("old %v: %d targets lost, %v", old, w.lost, w.events)
		}
	}
}

// With switch, a unit is on only one shard at any time.
func TestSwitch(t *testing.T) {
	w := newFixture(t, 100, 2, 1, Settings{Weighted: true, Switch: true})
	w.settle()
	w.scale(3, 1)
	for range 400 {
		w.pass(tick)
		for _, u := range w.units {
			if on, to := w.On(u); on == nowhere || to != nowhere {
				t.Fatalf("%s is on %d and %d", u.id.Key, on, to)
			}
		}
	}
	w.settle()
	w.even()
	if w.lost == 0 {
		t.Error("a switch without an overlap leaves no gap: the other tests cannot find one")
	}
}

// A shard whose pods are missing for a long time is given up, and its units move to other shards; with never, they wait.
// When the shard returns, they stay scraped.
func TestDeadShard(t *testing.T) {
	for _, after := range []time.Duration{0, 5 * time.Minute} {
		w := newFixture(t, 100, 3, 1, Settings{Weighted: true, ReassignAfter: after})
		w.settle()
		w.pods[1].live = false
		w.pass(4 * time.Minute)
		if n := w.events[handoff.Direct]; n > 0 {
			t.Errorf("%d units moved before the time", n)
		}
		w.pass(4 * time.Minute)
		if n := w.events[handoff.Direct]; n > 0 != (after > 0) {
			t.Errorf("after %s: %d units moved", after, n)
		}
		if after == 0 {
			continue
		}
		w.lost = 0
		w.pods[1].live, w.pods[1].asked = true, false
		w.pods[1].boot++
		w.settle()
		w.pass(3 * time.Hour)
		w.settle()
		w.even()
		if s := w.Status(); w.lost > 0 || s.Shards[1].State != "" {
			t.Errorf("%d lost, %+v", w.lost, s)
		}
	}
}

// A tenant cannot keep the units of others from moving: neither by targets that no new shard ever scrapes, nor by
// intervals of a year, nor by units that are too large to watch.
func TestHostileTenant(t *testing.T) {
	w := newFixture(t, 100, 2, 1, Settings{Weighted: true})
	w.settle()
	stuck := map[*Unit]bool{}
	for i := range 30 {
		u := w.Enter("hostile", "", fmt.Sprint("10.9.0.", i), i%2)
		w.units, w.series[u], stuck[u] = append(w.units, u), 1000, true
	}
	w.settle()
	w.scale(3, 1)
	done := 0
	for range 3 * 3600 / 2 {
		w.pass(tick)
		for _, p := range w.pods {
			if p.shard == 2 {
				for u := range p.scraping {
					if stuck[u] {
						delete(p.scraping, u) // a duplicate of another target of that shard
					}
				}
			}
		}
		if w.Settled() {
			break
		}
		done++
	}
	if slow := w.events[handoff.Slow]; slow > maxStrikes || !w.Settled() {
		t.Errorf("the shard was blocked %d times, settled %v after %d ticks: %+v", slow, w.Settled(), done, w.Status())
	}
}

// The memory of units is limited by namespace, and released.
func TestRoom(t *testing.T) {
	const each = unitBytes + targetBytes + 10
	room := &rooms{most: 3*each + targetBytes, used: map[string]int{}}
	b := New(room, Settings{})
	var all []*Unit
	for i := range 10 {
		if u := b.Enter("hostile", "", fmt.Sprintf("key-%06d", i), 0); u != nil {
			all = append(all, u)
		}
	}
	if len(all) != 3 || b.Enter("demo", "", "a", 0) == nil || b.Enter("hostile", "", "key-000000", 0) != all[0] || b.Enter("hostile", "", "key-000000", 0) != nil {
		t.Errorf("%d units", len(all))
	}
	for _, u := range append(all, all[0]) {
		b.Leave(u)
	}
	b.Collect(map[string]bool{"hostile": true})
	if room.used["hostile"] != 3*(each-targetBytes) {
		t.Errorf("units are forgotten while targets are not known: %v", room.used)
	}
	b.Collect(nil)
	if room.used["hostile"] != 0 || room.used["demo"] == 0 {
		t.Errorf("used %v", room.used)
	}
	b.Close()
	if room.used["hostile"]+room.used["demo"] != 0 {
		t.Errorf("used %v after it was closed", room.used)
	}
}

// The number of unsent samples of the agents of leaving shards is known once all of their pods have reported it.
func TestLeaving(t *testing.T) {
	b, now := New(nil, Settings{Weighted: true}), time.Unix(1_700_000_000, 0)
	b.Lead(now, 1)
	var pods []handoff.Pod
	for _, name := range []string{"a-0", "a-1", "b-0", "b-1"} {
		pods = append(pods, handoff.Pod{Name: name, Shard: int(name[0] - 'a'), Live: true})
	}
	b.Pods(now, pods, false)
	check := func(what string, samples uint64, since time.Time) {
		t.Helper()
		if n, at := b.Leaving(1); n != samples || !at.Equal(since) {
			t.Errorf("%s: %d at %s, not %d at %s", what, n, at, samples, since)
		}
	}
	check("before any inventory", 0, time.Time{})
	b.RecordUnsent(now, "a-0", 7)
	b.RecordUnsent(now, "unknown", 7)
	b.RecordUnsent(now.Add(time.Minute), "b-0", 0)
	if _, at := b.Leaving(1); !at.IsZero() {
		t.Errorf("one pod did not say it, but it is known since %s", at)
	}
	b.RecordUnsent(now.Add(2*time.Minute), "b-1", 5)
	check("all said it", 5, now.Add(time.Minute))
	b.RecordUnsent(now.Add(3*time.Minute), "b-0", 1)
	check("again", 6, now.Add(2*time.Minute))
	b.Pods(now, pods[:3], false)
	check("a pod is gone", 1, now.Add(3*time.Minute))
	b.Pods(now, pods[:2], false)
	check("all are gone", 0, time.Time{})
	b.Pods(now, pods, false)
	check("new pods of the same names", 0, time.Time{})
	b.Lead(now, 2)
	check("a new leader", 0, time.Time{})
}
