package preview

import (
	"fmt"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// sharded returns n targets of a job with this number of shards, one in ten of which has 20 times as many series as the
// others.
func sharded(t *testing.T, n, shards int) targets.Result {
	t.Helper()
	step := []promconfig.Origin{{Path: promconfig.ShardingOrigin}}
	doc := promconfig.JobText{Origins: [][]promconfig.Origin{{step[0], step[0], step[0]}}, Text: fmt.Appendf(nil, `
- job_name: a
  relabel_configs:
  - {source_labels: [__address__, __tmp_hash], regex: (.+);, target_label: __tmp_hash, action: replace}
  - {source_labels: [__tmp_hash], modulus: %d, target_label: __tmp_hash, action: hashmod}
  - {source_labels: [__tmp_hash, __tmp_disable_sharding], regex: $(SHARD);|.+;.+, action: keep}
`, shards)}
	for i := range shards {
		doc.Shards = append(doc.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	jobs, err := targets.ReadJobs(doc)
	if err != nil {
		t.Fatal(err)
	}
	group := &targetgroup.Group{}
	for i := range n {
		target := model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.%d.%d:80", i/256, i%256)), "__tmp_shard_weight": "100"}
		if i%10 == 0 {
			target["__tmp_shard_weight"] = "2000"
		}
		group.Targets = append(group.Targets, target)
	}
	return jobs[0].Evaluate(targets.Found{Groups: []*targetgroup.Group{group}})
}

func shards(n int) (out []prometheus.Shard) {
	for i := range n {
		out = append(out, prometheus.Shard{Name: fmt.Sprint("prometheus-main-shard-", i), Position: i})
	}
	return out
}

// What one shard more or less moves is about what has to (new shards are filled up to 95 % of the mean), as docs/design/2026-11-27-weighted-shards.md says. Nothing is lost.
func TestReshard(t *testing.T) {
	const n = 4000
	for _, numbers := range [][2]int{{20, 21}, {21, 20}, {4, 4}, {1, 3}, {3, 1}} {
		from, to := numbers[0], numbers[1]
		r := &reshard{now: shards(from), then: shards(to), units: map[allocation.ID]*unit{}}
		for _, m := range []*Reshaped{&r.out.Hash, &r.out.Weighted} {
			m.Before, m.After = make([]Amount, from), make([]Amount, to)
		}
		r.job("demo", sharded(t, n, from))
		got := r.result()
		const series = n * (9*100 + 2000) / 10
		if got.Targets != n || got.Series != series || got.Claimed != n || got.Lost+got.Everywhere+got.Unknown > 0 {
			t.Errorf("%d to %d: %+v", from, to, got.Amount)
		}
		for _, m := range []*Reshaped{&got.Hash, &got.Weighted} {
			for _, side := range [][]Amount{m.Before, m.After} {
				var sum Amount
				for _, s := range side {
					sum.Targets, sum.Series = sum.Targets+s.Targets, sum.Series+s.Series
				}
				if sum != got.Amount {
					t.Errorf("%d to %d: the shards have %s, of %s", from, to, sum, got.Amount)
				}
			}
		}
		least := float64(max(from, to)-min(from, to)) / float64(max(from, to)) // of the series have to move
		hash, weighted := float64(got.Hash.Moved.Series)/series, float64(got.Weighted.Moved.Series)/series
		if weighted > least+0.015 || weighted < 0.94*least || from != to && hash <= weighted && max(from, to) > 3 {
			t.Errorf("%d to %d: %.3f of the series move, %.3f by hash; at least %.3f", from, to, weighted, hash, least)
		}
		if m := got.Weighted; m.FullestBefore > 1.1 || m.FullestAfter > 1.1 {
			t.Errorf("%d to %d: the fullest shard has %.2f of the mean, then %.2f", from, to, m.FullestBefore, m.FullestAfter)
		}
	}
}
