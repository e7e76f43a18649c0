package e2e

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// With autoscaling, a Prometheus with more series than a shard should have gets a second one, which the operator learns from
// the mounted ConfigMap of the discovery service, without a restart and without a change of the spec. With fewer series, it
// has one again, and the other one still answers queries about the targets that it had. The test is not parallel because it
// restarts the operator of deploy/.
func TestShardsFollowSeries(t *testing.T) {
	long(t)
	n := start(t)
	n.withCentralDiscovery(t, "--autoscaling-speed=10")
	operator := n.operatorPods(t)
	s := n.space(t, "autoscaling")
	s.apply(t, strings.NewReplacer(
		"TARGET-IMAGE", "docker.io/firekeeper/config-reloader:"+imageTag(t), "replicas: 6", "replicas: 9", "shards: 2", "shards: 1\n  shardRetentionPolicy: {whenScaled: Retain}",
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
	var on map[string][]string
	until(t, "targets on both shards", patience, func(context.Context) (bool, error) {
		on = s.divided(t)
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
	s.retainsAShard(t, on[centralPods[1]])
	if diff := cmp.Diff(operator, n.operatorPods(t)); diff != "" {
		t.Errorf("the operator restarted:\n%s", diff)
	}
}

// retainsAShard takes most series away, and checks that the second shard, which had these targets, is drained and retained
// with its data.
func (s space) retainsAShard(t *testing.T, had []string) {
	t.Helper()
	began := time.Now()
	s.in(t, "scale", "deployment", "target", "--replicas=2")
	until(t, "one shard", 30*time.Minute, func(context.Context) (bool, error) {
		shards := s.in(t, "get", "prometheus", "main", "-o", "jsonpath={.status.shards}")
		return shards == "1", fmt.Errorf("status.shards is %s", shards)
	})
	t.Logf("status.shards is 1 after %s", time.Since(began).Round(time.Second))
	until(t, "deadline of the shard", patience, func(context.Context) (bool, error) {
		return s.statefulSet(t, "prometheus-main-shard-1").Annotations["operator.prometheus.io/deletion-deadline"] != "", nil
	})
	if on := s.divided(t); len(on[centralPods[1]]) > 0 {
		t.Errorf("the drained shard scrapes %v", on[centralPods[1]])
	}
	found := s.kubectl(t, "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:9090/proxy/api/v1/query?query=%s",
		s.name, centralPods[1], url.QueryEscape("max_over_time(up[1h])")))
	for _, instance := range had {
		if !strings.Contains(found, fmt.Sprintf("%q", instance)) {
			t.Errorf("the retained shard has no samples of %s: %s", instance, found)
		}
	}
}
