package insight_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

const oneMonitor = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {namespace: demo, name: main, uid: "1"}
spec: {shards: %d, serviceMonitorSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {namespace: demo, name: web}
spec: {selector: {}, endpoints: [{port: http}]}
---
apiVersion: v1
kind: Pod
metadata: {namespace: demo, name: prometheus-main-0, labels: {operator.prometheus.io/name: main, app.kubernetes.io/name: prometheus, app.kubernetes.io/instance: main, app.kubernetes.io/managed-by: prometheus-operator, prometheus: main}}
spec: {containers: [{name: prometheus, image: p}]}
`

// Unknown targets are not reported as zero, neither if discovery is forbidden nor before it is
// complete.
func TestNotKnownIsNotZero(t *testing.T) {
	web := catalog.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: "web"}
	for name, tc := range map[string]struct {
		counts   preview.Counts
		shards   []int
		unsynced bool

		line      string
		perShard  []int
		onPod     string
		attention int
	}{
		"nothing is found":         {counts: preview.Counts{}, line: "0 targets are scraped: nothing is found", perShard: []int{0}, onPod: "0", attention: 1},
		"all is known":             {counts: preview.Counts{Kept: 3}, line: "3 targets are scraped", perShard: []int{3}, onPod: "3"},
		"nothing may be looked at": {counts: preview.Counts{Forbidden: 1}, line: "how many targets are scraped is not known: see Targets of the object", onPod: "not known"},
		"some is not known":        {counts: preview.Counts{Kept: 3, Unknown: 1}, line: "3 targets are scraped; there may be more, which are not known: see Targets of the object", onPod: "not known"},
		"it is still read":         {counts: preview.Counts{}, unsynced: true, line: "0 targets are scraped; the cluster is still being read, so there may be more", onPod: "not known"},
		"one shard has all":        {counts: preview.Counts{Kept: 300}, shards: []int{300, 0, 0}, line: "300 targets are scraped", perShard: []int{300, 0, 0}, onPod: "300", attention: 1},
		"one shard has all that is known": {
			counts: preview.Counts{Kept: 300, Unknown: 1}, shards: []int{300, 0, 0}, line: "300 targets are scraped; there may be more, which are not known: see Targets of the object", onPod: "not known",
		},
	} {
		t.Run(name, func(t *testing.T) {
			known := counts{"Prometheus demo/main": {Counts: tc.counts, PerShard: tc.shards, Synced: !tc.unsynced, Objects: map[catalog.Ref]preview.Counts{web: tc.counts}}}
			a := answers(t, loaded(t, []byte(fmt.Sprintf(oneMonitor, max(1, len(tc.shards))))), known)
			main := insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "main"}}
			report, err := a.Explain(t.Context(), everything, insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "web"}})
			if err != nil || len(report.Workloads) != 1 || !slices.Equal(report.Workloads[0].Targets, []string{tc.line}) {
				t.Errorf("explain: %+v %v, want %q", report, err, tc.line)
			}
			w, err := a.Workload(t.Context(), everything, main)
			if err != nil || !slices.Equal(w.PerShard, tc.perShard) {
				t.Errorf("per shard %v %v, want %v", w.PerShard, err, tc.perShard)
			}
			calls := 0
			for _, call := range w.Attention {
				if call.Cause == insight.NoTargets || call.Cause == insight.Unbalanced {
					calls++
				}
			}
			if calls != tc.attention {
				t.Errorf("attention %+v", w.Attention)
			}
			rollout, err := a.Rollout(t.Context(), everything, main, insight.Page{Limit: 10})
			if err != nil || len(rollout.Pods) != 1 {
				t.Fatalf("rollout %+v %v", rollout, err)
			}
			onPod := "not known"
			if n := rollout.Pods[0].Targets; n != nil {
				onPod = fmt.Sprint(*n)
			}
			if onPod != tc.onPod {
				t.Errorf("%s targets on the pod, want %s", onPod, tc.onPod)
			}
		})
	}
}
