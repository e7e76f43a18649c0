package preview

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// found is a [Finder] that returns the same groups for every job.
type found []*targetgroup.Group

// Find implements Finder.
func (f found) Find(_ context.Context, jobs []targets.Job, _ *Workload) (out []targets.Found, notes []string, err error) {
	for range jobs {
		out = append(out, targets.Found{Groups: f})
	}
	return out, nil, nil
}

// BenchmarkRun measures the report on a job that drops nine of ten targets of a few Services.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		var groups found
		for i := range n / 100 {
			group := &targetgroup.Group{Labels: model.LabelSet{"__meta_kubernetes_namespace": "demo", "__meta_kubernetes_service_name": model.LabelValue(fmt.Sprint("web-", i%10)),
				"__meta_kubernetes_service_label_n": model.LabelValue(fmt.Sprint(i % 10)), "__meta_kubernetes_endpointslice_name": model.LabelValue(fmt.Sprint("web-", i))}}
			for k := range 100 {
				group.Targets = append(group.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.%d.%d:80", i, k)),
					"__meta_kubernetes_pod_name": model.LabelValue(fmt.Sprintf("web-%d-%d", i, k))})
			}
			groups = append(groups, group)
		}
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			w := workload(b, 1, "- {job_name: all, relabel_configs: [{source_labels: [__meta_kubernetes_service_label_n], regex: '3', action: keep}]}")
			b.ReportAllocs()
			for b.Loop() {
				report, err := Run(b.Context(), []Workload{w}, groups, Query{Shard: AllShards, States: []targets.State{targets.Kept}, Limit: 50})
				if err != nil || report.Counts.Kept != n/10 {
					b.Fatal(report.Counts, err)
				}
			}
		})
	}
}
