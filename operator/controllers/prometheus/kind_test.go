package prometheus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// The status consists of the engine's status and the shards. Autoscalers use selector and
// shards, which older CRDs do not have.
func TestStatus(t *testing.T) {
	servers, agents := Kinds(Options{}, &rules.Cache{})
	p, a := &v1.Prometheus{}, &v1alpha1.PrometheusAgent{}
	p.Spec.Shards, a.Spec.Shards = new(int32(3)), new(int32(3))
	p.Status.Replicas, a.Status.Replicas = 7, 7
	s := engine.Status{WorkloadStatus: v1.WorkloadStatus{Replicas: 2}, Sets: []v1.ShardStatus{{ShardID: "0", Replicas: 2}}, Selector: "a=1"}
	for kind, w := range map[*engine.Kind]v1.Workload{servers: p, agents: a} {
		for bare, want := range map[bool]v1.PrometheusStatus{
			false: {WorkloadStatus: s.WorkloadStatus, ShardStatuses: s.Sets, Selector: "a=1", Shards: 3},
			true:  {WorkloadStatus: s.WorkloadStatus, ShardStatuses: s.Sets},
		} {
			s.Bare = bare
			got, have := kind.Status(w, s)
			if diff := cmp.Diff(any(want), got); diff != "" {
				t.Errorf("%s: %s", kind.Kind, diff)
			}
			if diff := cmp.Diff(any(v1.PrometheusStatus{WorkloadStatus: v1.WorkloadStatus{Replicas: 7}}), have); diff != "" {
				t.Errorf("%s: the one it has: %s", kind.Kind, diff)
			}
		}
	}
}
