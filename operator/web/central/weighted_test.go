package central

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

const weightedText = `
metadata: {namespace: monitoring, name: main, annotations: {firekeeper.dev/target-discovery: central, firekeeper.dev/sharding: weighted}}
spec: {shards: 2, replicas: 2, podMonitorSelector: {}, podMonitorNamespaceSelector: {}, scrapeConfigSelector: {}, serviceAccountName: prometheus}`

func (b *fixture) apply(t *testing.T, change ...string) {
	t.Helper()
	b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.NewReplacer(change...).Replace(weightedText)))
}

// setsOf returns the pods of a number of shards with two replicas.
func setsOf(shards ...int) (out []string) {
	for _, shard := range shards {
		set := "prometheus-main"
		if shard > 0 {
			set = fmt.Sprintf("prometheus-main-shard-%d", shard)
		}
		out = append(out, set+"-0", set+"-1")
	}
	return out
}

// runWeighted runs a test with a workload whose targets are placed by series, or will be.
func runWeighted(t *testing.T, change []string, test func(t *testing.T, b *fixture)) {
	t.Helper()
	inBubble(t, func(b *fixture) {
		b.addPods(120, "demo", "other")
		b.apply(t, change...)
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *fixture) {
		b.pods.t = t
		b.pods.start(setsOf(0, 1)...)
		defer func() { b.pods.end(b.pods.all()...) }()
		test(t, b)
	})
}

// While the number of shards changes from 2 to 3, 5, 3 and 2, with retention, each target stays scraped, and the load
// of shards is evened out.
func TestWeightedShards(t *testing.T) {
	retain := "spec: {shardRetentionPolicy: {whenScaled: Retain}, "
	runWeighted(t, []string{"spec: {", retain}, func(t *testing.T, b *fixture) {
		b.pods.pass(3 * time.Minute)
		b.pods.single(120)
		for _, n := range []int{3, 5, 3, 2} {
			b.apply(t, "spec: {", retain, "shards: 2", fmt.Sprintf("shards: %d", n))
			for shard := range n {
				if names := setsOf(shard); !slices.Contains(b.pods.all(), names[0]) {
					b.pods.start(names...)
				}
			}
			b.pods.pass(40 * time.Minute)
			b.pods.single(120)
			if f := b.pods.fullest(n); f > 1.25 { // 24 targets a shard, some of a tenth of the mean
				t.Errorf("%d shards: the fullest has %.2f of the mean", n, f)
			}
		}
		for _, name := range b.pods.all() { // kept ones have all jobs, without targets
			if s := b.pods.of[name]; strings.Contains(name, "shard-2") && (len(s.list[webJob]) > 0 || len(s.list) != 1) {
				t.Errorf("%s has %v", name, s.list)
			}
		}
	})
}

// The targets of pods that are deleted immediately, without retention, soon move to other shards.
func TestWeightedShardsDeleted(t *testing.T) {
	runWeighted(t, []string{"shards: 2", "shards: 3"}, func(t *testing.T, b *fixture) {
		b.pods.start(setsOf(2)...)
		b.pods.pass(10 * time.Minute)
		b.pods.single(120)
		b.apply(t)
		b.pods.end(setsOf(2)...)
		b.pods.pass(time.Minute)
		b.pods.lost = nil
		b.pods.single(120)
	})
}

// From hash to weighted and back, targets move with an overlap, and end on the shards of their hashes. So do those of
// pods of an earlier release.
func TestWeightedAndBack(t *testing.T) {
	for _, old := range []bool{false, true} {
		runWeighted(t, []string{"weighted", "hash", "shards: 2", "shards: 5"}, func(t *testing.T, b *fixture) {
			b.pods.start(setsOf(2, 3, 4)...)
			for _, s := range b.pods.of {
				s.old = old
			}
			b.pods.pass(2 * time.Minute)
			b.pods.single(120)
			before := b.pods.on()
			b.apply(t, "shards: 2", "shards: 5")
			b.pods.pass(30 * time.Minute)
			b.pods.single(120)
			moved := 0
			for address, shards := range b.pods.on() {
				if !slices.Equal(shards, before[address]) {
					moved++
				}
			}
			if moved == 0 && !old {
				t.Error("nothing moved")
			}
			b.apply(t, "weighted", "hash", "shards: 2", "shards: 5")
			b.pods.pass(30 * time.Minute)
			b.pods.single(120)
			for address, shards := range b.pods.on() {
				if !slices.Equal(shards, before[address]) {
					t.Errorf("old %v: %s is on %v, and was on %v", old, address, shards, before[address])
				}
			}
		})
	}
}

// The page and the metrics show the shards of targets, the moves and their reasons. The standby is ready without having
// lists.
func TestWeightedStatus(t *testing.T) {
	runWeighted(t, nil, func(t *testing.T, b *fixture) {
		b.server.Feed.Lead(0)
		b.pods.pass(time.Minute)
		if s := b.statusOf(b.server); !b.Ready() || len(s.Workloads[0].Shards) != 0 || s.Workloads[0].Balance == nil || s.Workloads[0].Balance.Ready {
			t.Errorf("standby: ready %v, %+v", b.Ready(), s.Workloads[0])
		}
		b.server.Feed.Lead(4)
		b.pods.pass(10 * time.Minute)
		b.apply(t, "shards: 2", "shards: 3")
		b.pods.pass(10 * time.Second)
		text := b.statusOf(b.server).table(time.Now())
		if !strings.Contains(text, "2      0       0.00     0      new") {
			t.Errorf("a shard without pods:\n%s", text)
		}
		b.pods.start(setsOf(2)...)
		b.pods.pass(30 * time.Second)
		text = b.statusOf(b.server).table(time.Now())
		for _, want := range []string{"STATE  SCRAPED BY PODS\n", "units of targets are on their way between shards", `:80" of demo, `, " to 2 (fill)\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		b.pods.pass(20 * time.Minute)
		text = b.metrics(t)
		for _, want := range []string{`moves_total{event="slow"} 0`, "moving_units 0", "blocked_units 0", "shard_imbalance 1."} {
			if !strings.Contains(text, "\nprometheus_operator_discovery_"+want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		if strings.Contains(text, `moves_total{event="done"} 0`) {
			t.Error(text)
		}
		b.apply(t, "sharding: weighted", "sharding: hash", "shards: 2", "shards: 3")
		b.pods.pass(30 * time.Minute)
		if s := b.statusOf(b.server).Workloads[0]; s.Balance != nil || strings.Contains(b.metrics(t), `moves_total{event="done"} 0`) {
			t.Errorf("after weighted: %+v", s)
		}
		b.pods.single(120)
	})
}

// A shard is given up when its pods are missing for a long time, which an Event reports, but neither while the pods are
// unknown nor if the annotation disables it.
func TestWeightedDeadShard(t *testing.T) {
	for _, after := range []string{"5m", "never"} {
		runWeighted(t, []string{"sharding: weighted", "sharding: weighted, firekeeper.dev/reassign-after: " + after, "shards: 2", "shards: 3"}, func(t *testing.T, b *fixture) {
			b.pods.start(setsOf(2)...)
			b.pods.pass(10 * time.Minute)
			b.pods.single(120)
			b.pods.mu.Lock()
			b.pods.away = true
			b.pods.mu.Unlock()
			b.pods.end(setsOf(1)...)
			b.pods.pass(10 * time.Minute)
			gone := 120 - len(b.pods.on())
			if gone < 20 {
				t.Errorf("moved while the pods are not known: only %d targets are not scraped", gone)
			}
			b.pods.mu.Lock()
			b.pods.away, b.pods.lost = false, nil
			b.pods.mu.Unlock()
			b.sent()
			b.pods.pass(7 * time.Minute)
			if n := len(b.pods.on()); (n == 120) != (after == "5m") {
				t.Errorf("after %s: %d targets are scraped", after, n)
			}
			if got := strings.Join(b.sent(), "\n"); strings.Contains(got, "ShardGivenUp shard 1 has had no ready pod for too long") != (after == "5m") {
				t.Errorf("after %s: Events %s", after, got)
			}
			b.pods.start(setsOf(1)...)
			b.pods.pass(20 * time.Minute)
			b.pods.single(120)
		})
	}
}

// Targets of namespaces that exceed their share of the memory for units stay on their shards by hash. No target is
// lost.
func TestWeightedRoom(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(120, "demo", "other")
		b.apply(t)
		b.Units = targetset.NewBudget(20_000)
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *fixture) {
		b.pods.t = t
		b.pods.start(setsOf(0, 1)...)
		defer func() { b.pods.end(b.pods.all()...) }()
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
		if n := b.statusOf(b.server).Workloads[0].Balance.Units; n == 0 || n > 40 {
			t.Errorf("%d units", n)
		}
	})
}
