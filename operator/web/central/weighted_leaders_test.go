package central

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A new leader without any state continues with the units that pods have: nothing moves, and moving targets stay
// scraped.
func TestWeightedLeaders(t *testing.T) {
	runWeighted(t, nil, func(t *testing.T, b *fixture) {
		b.pods.pass(10 * time.Minute)
		b.pods.single(120)
		before := b.pods.on()
		b.server.Feed.Lead(0)
		b.pods.pass(10 * time.Second)
		b.server.Feed.Lead(4)
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
		for address, shards := range b.pods.on() {
			if !slices.Equal(shards, before[address]) {
				t.Errorf("%s moved from %v to %v", address, before[address], shards)
			}
		}
		b.apply(t, "shards: 2", "shards: 3")
		b.pods.start(setsOf(2)...)
		for leader := range uint64(10) {
			b.pods.pass(time.Minute)
			b.server.Feed.Lead(5 + leader)
		}
		b.pods.pass(30 * time.Minute)
		b.pods.single(120)
		if n := len(b.pods.of["prometheus-main-shard-2-0"].list[webJob]); n < 20 {
			t.Errorf("the new shard has %d targets", n)
		}
	})
}

// runFollower runs a test with a replica that follows, and pods with the lists of another one: each shard has every so many
// of 120 targets.
func runFollower(t *testing.T, shards int, test func(t *testing.T, b *fixture)) {
	t.Helper()
	inBubble(t, func(b *fixture) {
		b.server.Feed.Lead(0)
		b.addPods(120, "demo", "other")
		b.apply(t, "shards: 2", fmt.Sprint("shards: ", shards))
		b.api.Kind("nodes").Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
		b.pods.b, b.pods.of, b.pods.was, b.pods.times = b, map[string]*server{}, map[string]bool{}, 1
	}, func(t *testing.T, b *fixture) {
		b.pods.t = t
		for shard := range shards {
			b.pods.start(setsOf(shard)...)
		}
		defer func() { b.pods.end(b.pods.all()...) }()
		b.pods.mu.Lock()
		for i := range 120 {
			target := pod("demo", "web", "web", i).Status.PodIP + ":80"
			for _, name := range setsOf(i % shards) {
				s := b.pods.of[name]
				s.version, s.list[webJob] = "2-1", append(s.list[webJob], target)
				s.since[webJob+" "+target] = time.Now().Add(-time.Hour)
			}
		}
		b.pods.mu.Unlock()
		b.pods.pass(10 * time.Second)
		if n := len(b.pods.was); n != 120 {
			t.Fatalf("%d targets are scraped at the start", n)
		}
		test(t, b)
	})
}

// A replica that followed while the number of shards fell starts with the units that pods have, including those of
// shards that are being removed.
func TestWeightedFollowerLeads(t *testing.T) {
	runFollower(t, 4, func(t *testing.T, b *fixture) {
		b.apply(t)
		b.pods.pass(10 * time.Second)
		b.server.Feed.Lead(4)
		b.pods.pass(20 * time.Minute)
		b.pods.single(120)
		for address, shards := range b.pods.on() {
			if last := shards[len(shards)-1]; last != "prometheus-main" && last != "prometheus-main-shard-1" {
				t.Errorf("%s is on %v", address, shards)
			}
		}
	})
}

// Reports of pods while the targets of a changed job are incomplete do not make a new leader move targets.
func TestWeightedInventoryBeforeTargets(t *testing.T) {
	runFollower(t, 2, func(t *testing.T, b *fixture) {
		b.pods.slow = 8 * time.Second
		b.server.Feed.Lead(4)
		b.pods.pass(4 * time.Second)
		nodes := make(chan struct{})
		b.api.Delay("nodes", nodes)
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText+"\n  attachMetadata: {node: true}"))
		b.pods.pass(8 * time.Second)
		close(nodes)
		b.pods.pass(5 * time.Minute)
		b.pods.single(120)
	})
}

// A new pod, which has no targets, gets its list even while the targets of a job are incomplete.
func TestWeightedNewPodBeforeTargets(t *testing.T) {
	runWeighted(t, nil, func(t *testing.T, b *fixture) {
		b.pods.pass(10 * time.Minute)
		nodes := make(chan struct{})
		defer close(nodes)
		b.api.Delay("nodes", nodes)
		slow := read[v1.PodMonitor](t, monitorText+"\n  attachMetadata: {node: true}")
		slow.Name = "slow"
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), slow)
		b.pods.pass(10 * time.Second)
		b.pods.start("prometheus-main-2")
		b.pods.pass(time.Minute)
		if n := len(b.pods.of["prometheus-main-2"].list[webJob]); n < 40 {
			t.Errorf("the new pod has %d targets", n)
		}
	})
}

// A leader that dies while a new shard is filled leaves no shard with too few series, also with few targets of one
// series.
func TestWeightedLeaderDiesDuringChange(t *testing.T) {
	for _, after := range []time.Duration{2 * time.Second, 14 * time.Second, 30 * time.Second} {
		inBubble(t, func(b *fixture) {
			b.addPods(6, "demo", "other")
			b.apply(t)
			b.pods.b, b.pods.of, b.pods.was = b, map[string]*server{}, map[string]bool{}
		}, func(t *testing.T, b *fixture) {
			b.pods.t = t
			b.pods.start(setsOf(0, 1)...)
			defer func() { b.pods.end(b.pods.all()...) }()
			b.pods.pass(10 * time.Minute)
			b.apply(t, "shards: 2", "shards: 3")
			b.pods.start(setsOf(2)...)
			b.pods.pass(after)
			b.server.Feed.Lead(0)
			b.pods.pass(20 * time.Second)
			b.server.Feed.Lead(9)
			b.pods.pass(15 * time.Minute)
			b.pods.single(6)
			on := map[string]int{}
			for _, shards := range b.pods.on() {
				on[shards[0]]++
			}
			if want := map[string]int{"prometheus-main": 2, "prometheus-main-shard-1": 2, "prometheus-main-shard-2": 2}; !maps.Equal(on, want) {
				t.Errorf("after %s: %v", after, on)
			}
		})
	}
}
