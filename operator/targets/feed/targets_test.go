package feed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// readJob returns a job with three shards that keeps pods of app web.
func readJob(t testing.TB) *targets.Job {
	t.Helper()
	const text = `- job_name: "a \"quoted\" name"
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {action: keep, source_labels: [__meta_kubernetes_pod_label_app], regex: web}
  - {source_labels: [__address__, __tmp_hash], target_label: __tmp_hash, regex: "(.+);", replacement: $1}
  - {source_labels: [__tmp_hash], target_label: __tmp_hash, modulus: 3, action: hashmod}
  - {source_labels: [__tmp_hash], regex: $(SHARD), action: keep}
`
	d := promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{make([]promconfig.Origin, 4)}}
	for i := range 3 {
		d.Shards = append(d.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	jobs, err := targets.ReadJobs(d)
	if err != nil {
		t.Fatal(err)
	}
	return &jobs[0]
}

func groupOf(r *rand.Rand, source string) *targetgroup.Group {
	out := &targetgroup.Group{Source: source, Labels: model.LabelSet{"__meta_kubernetes_namespace": "demo"}}
	for range r.IntN(5) {
		app := model.LabelValue("web")
		if r.IntN(3) == 0 {
			app = "db"
		}
		out.Targets = append(out.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.0.%d:80", r.IntN(200))), "__meta_kubernetes_pod_label_app": app, "__meta_kubernetes_pod_uid": "unread"})
	}
	return out
}

// After any changes of groups, lines equal those of the same groups put at once, shards have disjoint targets, and a
// line only changes if Changed has reported it.
func TestTargets(t *testing.T) {
	j := readJob(t)
	r := rand.New(rand.NewPCG(0, 0))
	groups := map[targetset.Key]*targetgroup.Group{}
	kept := newTargets(j, nil)
	last := make([]string, 3)
	changes := 0
	for range 500 {
		key := targetset.Key{Source: fmt.Sprintf("pod/demo/%d", r.IntN(20))}
		if r.IntN(3) == 0 {
			delete(groups, key)
			kept.Put(key, nil, nil)
		} else {
			groups[key] = groupOf(r, key.Source)
			kept.Put(key, groups[key], j.Outcomes(groups[key]))
		}
		fresh, seen := newTargets(j, nil), map[string]int{}
		for key, group := range groups {
			fresh.Put(key, group, j.Outcomes(group))
		}
		for shard := range 3 {
			want, n := fresh.Line(shard)
			if changed := kept.Changed(shard); changed {
				changes++
			} else if string(want) != last[shard] {
				t.Fatalf("shard %d changed silently:\n%s\n%s", shard, last[shard], want)
			}
			got, m := kept.Line(shard)
			if n != m || len(kept.Settle()) > 0 {
				t.Fatalf("%d targets, want %d", m, n)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Fatal(diff)
			}
			last[shard] = string(got)
			var line struct {
				Job    string
				Groups []encodedGroup
			}
			if err := json.Unmarshal(got, &line); err != nil || line.Job != j.Name || len(line.Groups) != n || !strings.HasSuffix(last[shard], "\n") {
				t.Fatalf("%s: %v", got, err)
			}
			for _, g := range line.Groups {
				if on, is := seen[g.Targets[0]]; is && on != shard {
					t.Fatalf("%s is on two shards", g.Targets[0])
				}
				seen[g.Targets[0]] = shard
				if diff := cmp.Diff(model.LabelSet{"__meta_kubernetes_pod_label_app": "web"}, g.Labels); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	}
	if changes < 100 || changes > 1400 {
		t.Errorf("%d lines changed", changes)
	}
	if line, n := newTargets(j, nil).Line(0); n != 0 || string(line) != string(EmptyLine(j.Name)) {
		t.Errorf("%s %d", line, n)
	}
}

// A change of one group encodes only its targets.
func TestTargetsAreKept(t *testing.T) {
	j := readJob(t)
	r := rand.New(rand.NewPCG(0, 0))
	kept := newTargets(j, nil)
	for i := range 50 {
		group := groupOf(r, "")
		kept.Put(targetset.Key{Source: fmt.Sprint(i)}, group, j.Outcomes(group))
	}
	other := kept.groups[targetset.Key{Source: "7"}]
	group := groupOf(r, "")
	outcomes := j.Outcomes(group)
	few := testing.AllocsPerRun(20, func() { kept.Put(targetset.Key{Source: "1"}, group, outcomes) })
	if after := kept.groups[targetset.Key{Source: "7"}]; len(after.encoded) == 0 || &after.encoded[0] != &other.encoded[0] {
		t.Error("another group was encoded again")
	}
	if most := float64(20 + 40*len(group.Targets)); few > most {
		t.Errorf("%g allocations for %d targets", few, len(group.Targets))
	}
}

// Targets that are too expensive are counted.
func TestUnknownTargets(t *testing.T) {
	kept := newTargets(readJob(t), nil)
	group := &targetgroup.Group{Targets: []model.LabelSet{{"__address__": "10.0.0.1:80"}, {"__address__": "10.0.0.2:80"}}}
	kept.Put(targetset.Key{}, group, []targets.Outcome{{State: targets.Kept, Shards: []int{0}}, {State: targets.Unknown}})
	if _, n := kept.Line(0); n != 1 || kept.Unknown() != 1 {
		t.Errorf("%d targets, %d unknown", n, kept.Unknown())
	}
	if kept.Put(targetset.Key{}, nil, nil); kept.Unknown() != 0 {
		t.Errorf("%d unknown", kept.Unknown())
	}
}

// A target with labels that pods would reject is left out on every shard, and the other targets of the job remain.
// Escaping can make labels six times as long.
func TestOversizedTargets(t *testing.T) {
	kept := newTargets(readJob(t), nil)
	group := &targetgroup.Group{}
	for _, value := range []string{"small", strings.Repeat("x", maxTarget), strings.Repeat("<", maxTarget/6)} {
		group.Targets = append(group.Targets, model.LabelSet{"__address__": "10.0.0.1:80", "note": model.LabelValue(value)})
	}
	all := targets.Outcome{State: targets.Kept, Shards: []int{0, 2}}
	kept.Put(targetset.Key{}, group, []targets.Outcome{all, all, all})
	for shard, want := range []int{1, 0, 1} {
		if line, n := kept.Line(shard); n != want || len(line) > 200 {
			t.Errorf("shard %d: %d targets in %d bytes", shard, n, len(line))
		}
	}
	if kept.Oversized() != 2 {
		t.Errorf("%d targets are oversized", kept.Oversized())
	}
	if kept.Put(targetset.Key{}, nil, nil); kept.Oversized() != 0 {
		t.Errorf("%d targets are oversized after the group has gone", kept.Oversized())
	}
}

// newTargets returns the targets of a job without a balancer.
func newTargets(j *targets.Job, memory *Memory) *Targets { return NewBalanced(j, memory, "", nil) }
