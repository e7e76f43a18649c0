package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fields: replicas, ruleSelector, serviceMonitorSelector, scrapeConfigSelector.
func TestReplicasUpAndDown(t *testing.T) {
	s, _ := scenario(t, "replicas", "replicas: 2", "prometheus-web-0", "prometheus-web-1")
	s.says(t, "web", conditions+`{.status.availableReplicas}`, "Available=True Reconciled=True 2")
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	first := identities(pods[:1])
	g := s.guard(t, webGroups, s.webJobs(), "prometheus-web-0")

	s.patch(t, "web", `{"spec":{"replicas":3}}`)
	s.rolledOut(t, "web", "prometheus-web-0", "prometheus-web-1", "prometheus-web-2")
	s.runs(t, "sum(up)", s.webJobs()[0], "prometheus-web-2")
	s.says(t, "web", `{.status.replicas} {.status.availableReplicas}`, "3 3")

	s.patch(t, "web", `{"spec":{"replicas":1}}`)
	s.rolledOut(t, "web", "prometheus-web-0")
	s.says(t, "web", `{.status.replicas} {.status.availableReplicas}`, "1 1")
	g.end(t)
	s.unchanged(t, first)

	s.patch(t, "web", `{"spec":{"replicas":0}}`)
	s.rolledOut(t, "web")
	s.says(t, "web", conditions+`{.status.replicas}`, "Available=True Reconciled=True 0")
}

// Fields: shards, set in the object and through its scale subresource.
func TestShardsUpAndDown(t *testing.T) {
	long(t)
	s, _ := scenario(t, "shards", "shards: 1", "prometheus-web-0")
	s.spread(t, "prometheus-web-0")
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	g := s.guard(t, webGroups, s.webJobs(), "prometheus-web-0")

	s.patch(t, "web", `{"spec":{"shards":2}}`)
	s.rolledOut(t, "web", "prometheus-web-0", "prometheus-web-shard-1-0")
	s.spread(t, "prometheus-web-0", "prometheus-web-shard-1-0")

	s.in(t, "scale", "prometheus", "web", "--replicas=3")
	s.rolledOut(t, "web", "prometheus-web-0", "prometheus-web-shard-1-0", "prometheus-web-shard-2-0")
	s.spread(t, "prometheus-web-0", "prometheus-web-shard-1-0", "prometheus-web-shard-2-0")
	s.says(t, "web", `{.status.shards} {.status.shardStatuses[*].shardID} {.status.replicas}`, "3 0 1 2 3")
	until(t, "scale subresource", patience, func(context.Context) (bool, error) {
		scale := s.kubectl(t, "get", "--raw", "/apis/monitoring.coreos.com/v1/namespaces/"+s.name+"/prometheuses/web/scale")
		return strings.Contains(scale, `"replicas":3,"selector":"app.kubernetes.io/instance=web,`), fmt.Errorf("scale is %s", scale)
	})

	s.in(t, "scale", "prometheus", "web", "--replicas=1")
	s.rolledOut(t, "web", "prometheus-web-0")
	s.spread(t, "prometheus-web-0")
	if left := s.in(t, "get", "statefulsets", "-o", "name"); left != "statefulset.apps/prometheus-web" {
		t.Errorf("left are %s", left)
	}
	g.end(t)
	s.unchanged(t, identities(pods))
}

// Fields: shardRetentionPolicy. A retained shard scrapes nothing, can be reused, and is deleted after the retention
// time without another change.
func TestRetainedShard(t *testing.T) {
	long(t)
	s, _ := scenario(t, "retained", "shards: 2, shardRetentionPolicy: {whenScaled: Retain}", "prometheus-web-0", "prometheus-web-shard-1-0")
	s.spread(t, "prometheus-web-0", "prometheus-web-shard-1-0")
	s.in(t, "scale", "prometheus", "web", "--replicas=1")
	until(t, "deadline of the shard", patience, func(context.Context) (bool, error) {
		set := s.statefulSet(t, "prometheus-web-shard-1")
		return set.Annotations["operator.prometheus.io/deletion-deadline"] != "" && set.DeletionTimestamp == nil, nil
	})
	until(t, "idle shard", patience, func(ctx context.Context) (bool, error) {
		// With one shard, static jobs have no sharding rules.
		targets, err := s.server("prometheus-web-shard-1-0", "http").Targets(ctx)
		if err != nil {
			return false, err
		}
		for _, target := range targets {
			if strings.HasPrefix(target.ScrapePool, "serviceMonitor/") {
				return false, fmt.Errorf("it scrapes %s", target.ScrapeURL)
			}
		}
		return true, nil
	})
	s.in(t, "scale", "prometheus", "web", "--replicas=2")
	s.rolledOut(t, "web", "prometheus-web-0", "prometheus-web-shard-1-0")
	until(t, "deadline is taken back", patience, func(context.Context) (bool, error) {
		return s.statefulSet(t, "prometheus-web-shard-1").Annotations["operator.prometheus.io/deletion-deadline"] == "", nil
	})
	s.spread(t, "prometheus-web-0", "prometheus-web-shard-1-0")

	s.patch(t, "web", `{"spec":{"shards":1,"shardRetentionPolicy":{"retain":{"retentionPeriod":"1s"}}}}`)
	until(t, "end of the shard", patience, func(ctx context.Context) (bool, error) {
		_, err := s.kube.AppsV1().StatefulSets(s.name).Get(ctx, "prometheus-web-shard-1", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}
