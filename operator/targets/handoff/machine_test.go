package handoff_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// fixture is a machine whose pods, one for each shard, receive each list immediately.
type fixture struct {
	t    *testing.T
	m    *handoff.Machine
	now  time.Time
	live []bool
	seq  uint64
}

func newFixture(t *testing.T, shards int, rules handoff.Rules) *fixture {
	t.Helper()
	b := &fixture{t: t, now: time.Unix(1_700_000_000, 0), live: make([]bool, shards)}
	for i := range b.live {
		b.live[i] = true
	}
	b.m = handoff.New(1, b.now, rules)
	b.pods()
	for i := range b.live {
		b.m.Held(fmt.Sprint(i), nil, nil)
	}
	return b
}

func (b *fixture) pods() {
	var pods []handoff.Pod
	for i, live := range b.live {
		pods = append(pods, handoff.Pod{Name: fmt.Sprint(i), Shard: i, Live: live})
	}
	b.m.Pods(len(pods), pods)
}

func (b *fixture) want(shard int, why allocation.Reason, series uint64, keys ...string) {
	for _, key := range keys {
		b.m.Want(id(key), handoff.Want{Shard: shard, Why: why, Series: series, Interval: 30 * time.Second})
	}
}

func id(key string) allocation.ID { return allocation.ID{Namespace: "n", Key: key} }

// step advances the time.
func (b *fixture) step(d time.Duration) []handoff.Event {
	b.now = b.now.Add(d)
	b.pods()
	return b.m.Step(b.now)
}

// report reports that a pod has its last list. Unless it is idle, it scrapes all of it.
func (b *fixture) report(shard int, idle, blind bool) {
	b.seq++
	r := handoff.Report{Pod: fmt.Sprint(shard), Boot: 1, Seq: b.seq, Leader: 1, Version: b.m.Version(shard), Blind: blind}
	if !idle {
		r.Scraped = b.m.Watched(shard)
	}
	b.m.Report(r)
}

func (b *fixture) reports() {
	for shard := range b.live {
		b.report(shard, false, false)
	}
}

func (b *fixture) events(got []handoff.Event, want ...string) {
	b.t.Helper()
	var words []string
	for _, e := range got {
		words = append(words, fmt.Sprintf("%s %s %d->%d", e.Kind, e.Key, e.From, e.To))
	}
	if !slices.Equal(words, want) {
		b.t.Fatalf("%q, want %q", words, want)
	}
}

func keys(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%02d", prefix, i))
	}
	return out
}

// A move starts, is confirmed, and ends, depending on the versions of the lists that pods report.
func TestMove(t *testing.T) {
	b := newFixture(t, 2, handoff.Rules{})
	b.want(0, allocation.Place, 100, "a")
	b.events(b.step(time.Second))
	b.reports()
	before := b.m.Version(0)
	b.want(1, allocation.Fill, 100, "a")
	b.events(b.step(time.Second), "started a 0->1")
	if on, to := b.m.Serves(id("a")); on != 0 || to != 1 || b.m.Version(0) != before {
		t.Errorf("it is on %d and %d, version %d", on, to, b.m.Version(0))
	}
	b.report(1, true, false)
	b.events(b.step(time.Second))
	b.report(1, false, false)
	b.events(b.step(time.Second), "done a 0->1")
	if on, to := b.m.Serves(id("a")); on != 1 || to != handoff.Nowhere || b.m.Version(0) == before || b.m.Empty(0) {
		t.Errorf("it is on %d and %d, version %d", on, to, b.m.Version(0))
	}
	b.report(0, false, false)
	if b.step(time.Second); !b.m.Empty(0) || b.m.Empty(1) {
		t.Error("shard 0 is not empty, or shard 1 is")
	}
}

// A shard that does not scrape its new units within three intervals and a minute gets no units for ten minutes.
func TestSlowShard(t *testing.T) {
	b := newFixture(t, 3, handoff.Rules{})
	b.want(0, allocation.Place, 100, "a", "b")
	b.step(time.Second)
	b.reports()
	b.want(1, allocation.Fill, 100, "a")
	b.events(b.step(time.Second), "started a 0->1")
	b.report(0, false, false)
	b.report(1, true, false)
	b.events(b.step(150 * time.Second))
	b.events(b.step(time.Second), "back a 0->1", "slow  -1->1")
	b.report(1, true, false)
	b.events(b.step(9 * time.Minute))
	b.want(2, allocation.Fill, 100, "b") // other shards are not affected
	b.events(b.step(time.Second), "started b 0->2")
	b.report(2, false, false)
	b.events(b.step(time.Second), "done b 0->2")
	b.events(b.step(time.Minute), "started a 0->1")
}

// For a pod that cannot query its server, a unit counts as scraped once the server must have scraped it.
func TestBlindPod(t *testing.T) {
	b := newFixture(t, 2, handoff.Rules{})
	b.want(0, allocation.Place, 100, "a")
	b.step(time.Second)
	b.reports()
	b.want(1, allocation.Fill, 100, "a")
	b.events(b.step(time.Second), "started a 0->1")
	b.report(1, true, true)
	b.events(b.step(41 * time.Second))
	b.report(1, true, true)
	b.events(b.step(time.Second), "done a 0->1")
}

// At most a twentieth of the series of a shard moves at the same time: off draining shards first, then to shards that
// have too few, then off those with too many.
func TestLimitsAndOrder(t *testing.T) {
	b := newFixture(t, 4, handoff.Rules{})
	drain, fill, relieve := keys("d", 40), keys("f", 40), keys("r", 40)
	b.want(0, allocation.Place, 100, slices.Concat(drain, fill, relieve)...)
	b.step(time.Second)
	b.reports()
	b.want(3, allocation.Relieve, 100, relieve...)
	b.want(2, allocation.Fill, 100, fill...)
	b.want(1, allocation.Drain, 100, drain...)
	var order string
	for range 1000 {
		events := b.step(time.Second)
		moving, waiting := b.m.Moving()
		if len(moving) > 6 { // of 120
			t.Fatalf("%d units are on their way", len(moving))
		}
		for _, e := range events {
			if e.Kind == handoff.Started {
				order += e.Key[:1]
			}
		}
		if len(moving)+waiting == 0 {
			break
		}
		b.reports()
	}
	// Shards 1 to 3 have two on their way, and shard 0 six.
	if len(order) != 120 || order[:6] != "ddffrr" {
		t.Errorf("order %s", order)
	}
	big := newFixture(t, 2, handoff.Rules{})
	big.want(0, allocation.Place, 1000, "a", "b")
	big.step(time.Second)
	big.reports()
	big.want(1, allocation.Fill, 1000, "a", "b")
	big.events(big.step(time.Second), "started a 0->1") // a single one is never too much
}

// Shards without pods are given up one by one, but neither while the API server cannot be read nor if the settings
// disable it.
func TestDeadShards(t *testing.T) {
	b := newFixture(t, 4, handoff.Rules{ReassignAfter: 5 * time.Minute})
	b.want(0, allocation.Place, 100, "a")
	b.want(1, allocation.Place, 100, "b")
	b.step(time.Second)
	b.reports()
	b.live[0], b.live[1] = false, false
	b.m.Freeze(true)
	b.events(b.step(time.Hour))
	b.m.Gone(id("a"))
	b.m.Freeze(false)
	b.events(b.step(time.Second))
	b.events(b.step(299 * time.Second))
	b.events(b.step(time.Second), "dead  0->-1")
	b.want(2, allocation.Drain, 100, "a")
	b.events(b.step(time.Second), "direct a 0->2")
	b.want(2, allocation.Drain, 100, "b") // not dead: its list stays
	b.events(b.step(598*time.Second), "started b 1->2")
	b.events(b.step(time.Second), "dead  1->-1", "direct b 1->2")
	b.live[0] = true
	b.events(b.step(time.Second))
	if b.m.HasReported("0") {
		t.Error("the pod that is back gets a list at once")
	}
	never := newFixture(t, 2, handoff.Rules{})
	never.want(0, allocation.Place, 100, "a")
	never.step(time.Second)
	never.live[0] = false
	never.events(never.step(24 * time.Hour))
	never.events(never.step(24 * time.Hour))
}

// A new leader starts with the lists that pods have.
func TestNewLeader(t *testing.T) {
	b := newFixture(t, 3, handoff.Rules{})
	b.m = handoff.New(2, b.now, handoff.Rules{})
	b.pods()
	b.want(2, allocation.Place, 100, "moving", "new")
	b.want(1, allocation.Place, 100, "stays", "elsewhere")
	b.m.Held("0", []allocation.ID{id("moving"), id("elsewhere"), id("vanished")}, nil)
	b.m.Held("1", []allocation.ID{id("stays")}, nil)
	b.events(b.step(time.Second))
	if b.m.Ready() {
		t.Fatal("it does not wait for the last pod")
	}
	b.m.Held("2", []allocation.ID{id("moving")}, nil)
	b.events(b.step(time.Second))
	for key, want := range map[string][2]int{"moving": {0, 2}, "stays": {1, -1}, "elsewhere": {0, -1}, "new": {2, -1}, "vanished": {-1, -1}} {
		if on, to := b.m.Serves(id(key)); [2]int{on, to} != want {
			t.Errorf("%s is on %d and %d, want %v", key, on, to, want)
		}
	}
	b.want(1, allocation.Place, 100, "vanished") // for a moment
	if on, to := b.m.Serves(id("vanished")); on != 0 || to != handoff.Nowhere {
		t.Errorf("it is on %d and %d", on, to)
	}
	late := handoff.New(3, b.now, handoff.Rules{})
	late.Pods(1, []handoff.Pod{{Name: "0", Live: true}})
	if late.Step(b.now.Add(59 * time.Second)); late.Ready() {
		t.Error("it does not wait")
	}
	if late.Step(b.now.Add(time.Minute)); !late.Ready() {
		t.Error("it waits for a pod that does not come")
	}
}

// The cost of a step depends on the number of moves, and not on the length of the lists.
func TestStepsAreCheap(t *testing.T) {
	b := newFixture(t, 2, handoff.Rules{})
	for i := range 100_000 {
		b.want(i%2, allocation.Place, 100, fmt.Sprint(i))
	}
	b.step(time.Second)
	b.reports()
	pods := []handoff.Pod{{Name: "0", Shard: 0, Live: true}, {Name: "1", Shard: 1, Live: true}}
	if n := testing.AllocsPerRun(20, func() {
		b.m.Pods(2, pods)
		b.m.Step(b.now)
	}); n > 50 {
		t.Errorf("a step in which nothing moves has %.0f allocations", n)
	}
}
