package insight_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// resharded is a cluster with 40 static targets, and workloads that scrape them.
func resharded() []byte {
	var of []string
	for i := range 40 {
		of = append(of, fmt.Sprintf("'10.0.0.%d:80'", i))
	}
	return []byte(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec: {shards: 2, scrapeConfigSelector: {}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: PrometheusAgent
metadata: {name: nodes, namespace: demo}
spec: {mode: DaemonSet, podMonitorSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: large, namespace: demo}
spec: {podMonitorSelector: {}, podMonitorNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: other, namespace: other}
spec: {scrapeConfigSelector: {}, scrapeConfigNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: machines, namespace: demo}
spec: {staticConfigs: [{targets: [` + strings.Join(of, ", ") + "]}]}\n" + string(podMonitors(51, 100, "{port: a}")))
}

// Reshard counts the same targets as the command, and only for callers who may get the workload.
func TestReshard(t *testing.T) {
	a := answers(t, loaded(t, resharded()), nil)
	of := func(row *catalog.Row, name string) insight.Object {
		return insight.Object{Row: row, NamespacedName: types.NamespacedName{Namespace: "demo", Name: name}}
	}
	main := of(catalog.Prometheus, "main")
	got, err := a.Reshard(t.Context(), everything, main, 3)
	if err != nil {
		t.Fatal(err)
	}
	series := uint64(0)
	for _, shard := range got.Weighted.After {
		series += shard.Series
	}
	if got.From != 2 || got.To != 3 || got.Targets != 40 || got.Series != 20_000 || series != 20_000 || got.Hash.Moved.Targets <= got.Weighted.Moved.Targets || got.Weighted.Moved.Targets == 0 {
		t.Errorf("got %+v", got)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx    context.Context
		rights access.Rights
		of     insight.Object
		want   string
		is     func(error) bool
	}{
		"rights":   {t.Context(), allowed{"get prometheuses other"}, main, "you need permission to get prometheuses in namespace demo", apierrors.IsForbidden},
		"missing":  {t.Context(), everything, of(catalog.Prometheus, "none"), `"none" not found`, apierrors.IsNotFound},
		"invalid":  {t.Context(), everything, of(catalog.PrometheusAgent, "nodes"), "the PrometheusAgent is invalid: spec.mode", apierrors.IsConflict},
		"jobs":     {t.Context(), everything, of(catalog.Prometheus, "large"), "all jobs have more than 4096 KiB: operator targets --shards=N has no such limit", apierrors.IsBadRequest},
		"patience": {gone, everything, main, "takes too long", apierrors.IsTimeout},
	} {
		if got, err := a.Reshard(tc.ctx, tc.rights, tc.of, 3); err == nil || !tc.is(err) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
