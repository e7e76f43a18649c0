package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// With autoscaling, a Prometheus with more series than a shard should have gets a second one, which the operator learns from
// the mounted ConfigMap of the discovery service, without a restart and without a change of the spec. The test is not
// parallel because it restarts the operator of deploy/.
func TestShardsFollowSeries(t *testing.T) {
	long(t)
	n := start(t)
	n.withCentralDiscovery(t)
	operator := n.operatorPods(t)
	s := n.space(t, "autoscaling")
	s.apply(t, strings.NewReplacer(
		"TARGET-IMAGE", "docker.io/firekeeper/config-reloader:"+imageTag(t), "replicas: 6", "replicas: 9", "shards: 2", "shards: 1",
		"target-discovery: both", `target-discovery: central, firekeeper.dev/sharding: weighted, firekeeper.dev/max-shards: "2", firekeeper.dev/series-per-shard: "1000"`,
	).Replace(manifests(t, "central.yaml")))
	s.rolledOut(t, "main", centralPods[0])
	began := time.Now()
	until(t, "a second shard", 20*time.Minute, func(context.Context) (bool, error) {
		shards := s.in(t, "get", "prometheus", "main", "-o", "jsonpath={.status.shards}")
		return shards == "2", fmt.Errorf("status.shards is %s", shards)
	})
	t.Logf("status.shards is 2 after %s", time.Since(began).Round(time.Second))
	s.rolledOut(t, "main", centralPods...)
	until(t, "targets on both shards", patience, func(context.Context) (bool, error) {
		on := s.divided(t)
		return len(on[centralPods[0]]) > 0 && len(on[centralPods[1]]) > 0, fmt.Errorf("%v", on)
	})
	for path, want := range map[string]string{"{.spec.shards}": "1", `{.status.conditions[?(@.type=="Balanced")].status}`: "True"} {
		if got := s.in(t, "get", "prometheus", "main", "-o", "jsonpath="+path); got != want {
			t.Errorf("%s is %q, not %q", path, got, want)
		}
	}
	if events := s.in(t, "get", "events", "--field-selector", "reason=ShardsScaled", "-o", "jsonpath={.items[*].message}{.items[*].note}"); !strings.Contains(events, "1 → 2 shards: more shards are needed") {
		t.Errorf("Events: %q", events)
	}
	if diff := cmp.Diff(operator, n.operatorPods(t)); diff != "" {
		t.Errorf("the operator restarted:\n%s", diff)
	}
}
