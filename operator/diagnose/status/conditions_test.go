package status

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// A workload has several shards by its spec or, with autoscaling, by its status.
func TestWordsOfShards(t *testing.T) {
	const one, several = "no pod is ready", "no pod of at least one shard is ready"
	status := func(shards int32) v1.PrometheusStatus {
		s := v1.PrometheusStatus{Shards: shards}
		s.Conditions = []v1.Condition{{Type: v1.Available, Status: v1.ConditionFalse}}
		return s
	}
	for name, c := range map[string]struct {
		spec *int32
		has  int32
		want string
	}{
		"not set": {nil, 0, one}, "one": {new(int32(1)), 1, one}, "by the spec": {new(int32(2)), 0, several}, "by the status": {new(int32(1)), 2, several},
	} {
		server := &v1.Prometheus{Status: status(c.has)}
		server.Spec.Shards = c.spec
		agent := &v1alpha1.PrometheusAgent{Status: status(c.has)}
		agent.Spec.Shards = c.spec
		for _, w := range []v1.Workload{server, agent} {
			if got := conditionsOf(w); len(got) != 1 || got[0].Words != c.want {
				t.Errorf("%s, %T: %+v", name, w, got)
			}
		}
	}
	ruler := &v1.ThanosRuler{}
	ruler.Status.Conditions = status(0).Conditions
	if got := conditionsOf(ruler); len(got) != 1 || got[0].Words != one {
		t.Errorf("%+v", got)
	}
}
