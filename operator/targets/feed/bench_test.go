package feed

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// BenchmarkChange changes one group of ten targets in a job with many, up to the compressed line of each
// changed shard.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			j := readJob(b)
			group := func(i int) *targetgroup.Group {
				out := &targetgroup.Group{Labels: model.LabelSet{"__meta_kubernetes_namespace": "demo"}}
				for k := range 10 {
					out.Targets = append(out.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.%d.%d.%d:80", i/250, i%250, k)), "__meta_kubernetes_pod_label_app": "web"})
				}
				return out
			}
			kept, f, now := newTargets(j, nil), New(), time.Unix(0, 0)
			put := func(i, as int) {
				g := group(as)
				kept.Put(targetset.Key{Source: fmt.Sprint(i)}, g, j.Outcomes(g))
			}
			for i := range n / 10 {
				put(i, i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				put(i%(n/10), 20_000+i%20_000)
				for shard := range 3 {
					if !kept.Changed(shard) {
						continue
					}
					line, count := kept.Line(shard)
					f.Apply(now, Shard{Workload: shard0.Workload, Number: shard}, []Change{{Job: j.Name, Line: line, Targets: count}})
				}
			}
		})
	}
}
