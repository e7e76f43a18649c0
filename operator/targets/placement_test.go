package targets

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// divided returns a job of three shards with two steps of its own before those of the operator.
func divided(t *testing.T, steps string) *Job {
	t.Helper()
	sharding := promconfig.Origin{Path: promconfig.ShardingOrigin}
	d := promconfig.JobText{Origins: [][]promconfig.Origin{{{}, {}, sharding, sharding, sharding}}, Text: []byte(`
- job_name: a
  scrape_interval: 30s
  relabel_configs:` + steps + `
  - {source_labels: [__address__, __tmp_hash], regex: (.+);, target_label: __tmp_hash, action: replace}
  - {source_labels: [__tmp_hash], modulus: 3, target_label: __tmp_hash, action: hashmod}
  - {source_labels: [__tmp_hash, __tmp_disable_sharding], regex: $(SHARD);|.+;.+, action: keep}
`)}
	for i := range 3 {
		d.Shards = append(d.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	jobs, err := ReadJobs(d)
	if err != nil {
		t.Fatal(err)
	}
	return &jobs[0]
}

// A target that the operator assigns to a shard by hash alone can be on any other.
func TestPlace(t *testing.T) {
	j := divided(t, `
  - {source_labels: [hash], target_label: __tmp_hash, regex: (.+)}
  - {source_labels: [interval], target_label: __scrape_interval__, regex: (.+)}`)
	group := &targetgroup.Group{Targets: []model.LabelSet{
		{"__address__": "a:80"},
		{"__address__": "b:80", "hash": "key", "interval": "1m", "__tmp_shard_weight": "70"},
		{"__address__": "c:80", "__tmp_disable_sharding": "1"},
		{"__address__": "", "hash": "key"}, // not valid
	}}
	var got []string
	for i, o := range j.Outcomes(group) {
		p, ok := j.Place(group.Targets[i], group.Labels, o)
		claim := uint64(0)
		if p.Claim != nil {
			claim = *p.Claim
		}
		got = append(got, fmt.Sprintf("%v %s %v %s %d", ok, p.Key, p.Everywhere, p.Interval, claim))
	}
	want := []string{"true a:80 false 30s 0", "true key false 1m0s 70", "true c:80 true 30s 0", "false  false 0s 0"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("target %d: %s, want %s", i, got[i], want[i])
		}
	}
}

// A job that drops targets by shard itself keeps those that its shards have by hash: on another one, a server might drop
// them.
func TestPlaceOnlyIfAnyShardTakesIt(t *testing.T) {
	for steps, want := range map[string]bool{
		`
  - {target_label: a, replacement: b}
  - {target_label: c, replacement: d}`: true,
		`
  - {source_labels: [only], regex: "|$(SHARD)", action: keep}
  - {target_label: c, replacement: d}`: false,
		`
  - {target_label: a, replacement: b}
  - {target_label: __address__, replacement: "host-$(SHARD):80"}`: false,
	} {
		j, group := divided(t, steps), &targetgroup.Group{Targets: []model.LabelSet{{"__address__": "a:80"}}}
		o := j.Outcomes(group)[0]
		if p, ok := j.Place(group.Targets[0], nil, o); ok != want || ok && p.Interval != 30*time.Second {
			t.Errorf("%s: %+v %v", steps, p, ok)
		}
	}
}
