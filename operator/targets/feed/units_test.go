package feed

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// dividedJob returns a job with three shards that the operator divides.
func dividedJob(t testing.TB) *targets.Job {
	t.Helper()
	sharding := promconfig.Origin{Path: promconfig.ShardingOrigin}
	d := promconfig.JobText{Origins: [][]promconfig.Origin{{{}, sharding, sharding, sharding}}, Text: []byte(`- job_name: a
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {action: keep, source_labels: [__meta_kubernetes_pod_label_app], regex: web}
  - {source_labels: [__address__, __tmp_hash], target_label: __tmp_hash, regex: "(.+);", replacement: $1}
  - {source_labels: [__tmp_hash], target_label: __tmp_hash, modulus: 3, action: hashmod}
  - {source_labels: [__tmp_hash, __tmp_disable_sharding], regex: $(SHARD);|.+;.+, action: keep}
`)}
	for i := range 3 {
		d.Shards = append(d.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	jobs, err := targets.ReadJobs(d)
	if err != nil {
		t.Fatal(err)
	}
	return &jobs[0]
}

// led returns a balancer of three shards, each with a pod that immediately scrapes new targets of its list.
type led struct {
	*balance.Balancer
	t   *testing.T
	now time.Time
	seq uint64
}

func newLed(t *testing.T) *led {
	l := &led{Balancer: balance.New(nil, balance.Settings{Weighted: true}), t: t, now: time.Unix(1_700_000_000, 0)}
	l.shards(3)
	l.Lead(l.now, 1)
	for i := range 5 {
		l.RecordInventory(l.now, fmt.Sprint("pod-", i), map[*balance.Unit]bool{}, false)
	}
	return l
}

func (l *led) shards(n int) {
	var shards []allocation.Shard
	var pods []handoff.Pod
	for i := range max(n, l.Needed(n)) {
		shards = append(shards, allocation.Shard{Name: fmt.Sprint("shard-", i)})
		pods = append(pods, handoff.Pod{Name: fmt.Sprint("pod-", i), Shard: i, Live: true})
	}
	l.Shards(shards, n)
	l.Pods(l.now, pods, false)
}

// step advances the time, and returns the number of moves that began or ended.
func (l *led) step(kept *Targets) int {
	l.now = l.now.Add(10 * time.Second)
	l.seq++
	n := len(l.Step(l.now))
	kept.Grow(l.Needed(3))
	kept.Relocate()
	for shard := range kept.Shards() {
		l.Applied(shard, l.seq)
	}
	of := l.Watched()
	kept.Addresses(of)
	for shard, w := range l.Watch(of) {
		r := targetreport.Report{Boot: 1, Seq: l.seq, Watch: w.Seq}
		for _, u := range w.Units {
			r.Scraped = append(r.Scraped, u.ID)
		}
		l.Report(l.now, fmt.Sprint("pod-", shard), shard, balance.Version{Leader: 1, Seq: l.seq}, balance.Version{Leader: 1, Seq: l.seq}, r)
	}
	return n
}

// With a balancer, each target is in the line of one shard, or of two while it moves, after any changes. Lines equal
// those of the same targets in new Targets, and targets in no line are released.
func TestBalancedTargets(t *testing.T) {
	j, r, l := dividedJob(t), rand.New(rand.NewPCG(1, 1)), newLed(t)
	groups := map[targetset.Key]*targetgroup.Group{}
	kept := NewBalanced(j, &Memory{Most: 1 << 30}, "demo", l.Balancer)
	moves, twice := 0, 0
	for round := range 600 {
		key := targetset.Key{Source: fmt.Sprintf("pod/demo/%d", r.IntN(20))}
		switch {
		case r.IntN(4) > 0:
		case r.IntN(3) == 0:
			delete(groups, key)
			kept.Put(key, nil, nil)
		default:
			groups[key] = groupOf(r, key.Source)
			kept.Put(key, groups[key], j.Outcomes(groups[key]))
		}
		if round%150 == 100 {
			l.shards([]int{5, 2, 4, 3}[round/150])
		}
		moves += l.step(kept)
		want := map[string]int{}
		for _, g := range groups {
			for i, o := range j.Outcomes(g) {
				if o.State == targets.Kept {
					want[string(g.Targets[i]["__address__"])]++
				}
			}
		}
		known := map[string]int{}
		for address := range kept.addresses {
			known[address] = len(kept.Census(HalfLife).Note(l.now, address, nil))
		}
		if diff := cmp.Diff(want, known); diff != "" {
			t.Fatalf("round %d: targets by address: %s", round, diff)
		}
		on := map[string][]int{}
		fresh := NewBalanced(j, nil, "demo", l.Balancer)
		fresh.Grow(kept.Shards())
		for key, g := range groups {
			fresh.Put(key, g, j.Outcomes(g))
		}
		for shard := range kept.Shards() {
			line, _ := kept.Line(shard)
			if again, _ := fresh.Line(shard); cmp.Diff(string(again), string(line)) != "" {
				t.Fatalf("round %d, shard %d: %s", round, shard, cmp.Diff(string(again), string(line)))
			}
			for _, address := range addressesIn(t, line) {
				if !slices.Contains(on[address], shard) {
					on[address] = append(on[address], shard)
				}
			}
		}
		fresh.Close()
		for address, shards := range on {
			if len(shards) > 2 {
				t.Fatalf("%s is on %v", address, shards)
			}
			twice += len(shards) - 1
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(on))); diff != "" {
			t.Fatalf("round %d: targets that should be on a shard (-), and are (+): %s", round, diff)
		}
	}
	if moves < 50 || twice == 0 {
		t.Errorf("only %d moves, %d with an overlap", moves, twice)
	}
	used := kept.memory.Used()
	if kept.Close(); kept.memory.Used() != 0 || used == 0 {
		t.Errorf("%d bytes are used, %d at the end", used, kept.memory.Used())
	}
	l.Collect(nil)
	if n := l.Status().Units; n > 0 {
		t.Errorf("%d units are left", n)
	}
}

func addressesIn(t *testing.T, line []byte) (out []string) {
	t.Helper()
	var of struct{ Groups []struct{ Targets []string } }
	if err := json.Unmarshal(line, &of); err != nil {
		t.Fatal(err)
	}
	for _, g := range of.Groups {
		out = append(out, g.Targets...)
	}
	return out
}

// Series come from the counts of pods, averaged over time. Targets that were not counted have the median of the job,
// and the claim of a label counts within a factor of two of the counted series.
func TestCounted(t *testing.T) {
	j, l := dividedJob(t), newLed(t)
	kept := NewBalanced(j, nil, "demo", l.Balancer)
	g := &targetgroup.Group{Labels: model.LabelSet{"__meta_kubernetes_pod_label_app": "web"}}
	for i := range 5 {
		g.Targets = append(g.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.0.%d:80", i))})
	}
	g.Targets[4]["__tmp_shard_weight"] = "1"
	put := func() { kept.Put(targetset.Key{}, g, j.Outcomes(g)) }
	put()
	counted := func() (out []uint64) {
		for _, c := range kept.Counted() {
			out = append(out, c.Series)
		}
		return out
	}
	if got := counted(); fmt.Sprint(got) != "[500 500 500 500 1]" {
		t.Error(got)
	}
	census := kept.Census(HalfLife)
	for i, n := range []uint64{100, 200, 300} {
		if units := census.Note(l.now, fmt.Sprintf("10.0.0.%d:80", i), &n); len(units) != 1 {
			t.Errorf("%d units", len(units))
		}
	}
	census.Note(l.now, "10.0.0.4:80", new(uint64(100)))
	if units := census.Note(l.now.Add(HalfLife), "10.0.0.0:80", new(uint64(900))); units != nil {
		t.Error("an address counts twice")
	}
	if units := census.Note(l.now, "10.9.9.9:80", new(uint64(1))); units != nil {
		t.Error("an address that does not exist has a unit")
	}
	if got := counted(); fmt.Sprint(got) != "[100 200 300 200 50]" {
		t.Error(got)
	}
	put() // of the same targets: their counts are kept
	kept.Census(HalfLife).Note(l.now.Add(HalfLife), "10.0.0.0:80", new(uint64(300)))
	if got := counted(); fmt.Sprint(got) != "[200 200 300 200 50]" {
		t.Error(got)
	}
}
