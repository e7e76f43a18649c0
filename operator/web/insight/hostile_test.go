package insight_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// main is the workload of these tests.
var main = insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "main"}}

const selectsAll = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo, uid: a, resourceVersion: "1", generation: 1}
spec: {serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}}
status: {conditions: [{type: Reconciled, status: "True", lastTransitionTime: "2026-03-01T10:00:00Z"}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: well, namespace: other, uid: b, resourceVersion: "1", generation: 1}
spec: {serviceMonitorSelector: {}}
status: {conditions: [{type: Reconciled, status: "True", lastTransitionTime: "2026-03-01T10:00:00Z"}]}
`

// The size of responses is limited even if ten thousand objects are rejected for different reasons.
func TestManyRejected(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	const many = 10_000
	of := catalog.ServiceMonitor.GroupVersionResource()
	for i := range many {
		class := fmt.Sprintf("none-%d", i)
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("m%05d", i), UID: types.UID(class), ResourceVersion: "1", Generation: 1}}
		m.Spec.ScrapeClass = class
		m.Spec.Endpoints = []v1.Endpoint{{Port: strings.Repeat("x", 50)}}
		s.objects[of] = append(s.objects[of], m)
	}
	a := answers(t, s, nil)
	part := insight.Page{Limit: 100}
	overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: part})
	if err != nil {
		t.Fatal(err)
	}
	if overview.AttentionTotal != many || len(overview.Attention) != 100 || overview.Workloads[0].Rejected != many {
		t.Errorf("%d of %d things call for attention, %d are rejected", len(overview.Attention), overview.AttentionTotal, overview.Workloads[0].Rejected)
	}
	workload, err := a.Workload(t.Context(), everything, main)
	if err != nil {
		t.Fatal(err)
	}
	if n := workload.Counts["ServiceMonitor"][status.Rejected]; n != many {
		t.Errorf("%d are rejected", n)
	}
	sources, err := a.Sources(t.Context(), everything, main, insight.SourceQuery{Page: part, State: status.Rejected})
	if err != nil {
		t.Fatal(err)
	}
	if sources.Total != many || len(sources.Items) != 100 || sources.Items[99].Name != "m00099" {
		t.Errorf("%d of %d sources", len(sources.Items), sources.Total)
	}
	for name, answer := range map[string]any{"overview": overview, "workload": workload, "sources": sources} {
		if text, err := json.Marshal(answer); err != nil || len(text) > 100_000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

// The size of responses is limited even if an object has texts of a megabyte.
func TestEnormous(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "huge", UID: "huge", ResourceVersion: "1", Generation: 1}}
	m.Spec.ScrapeClass = strings.Repeat("ü", 1<<20)
	s.put(catalog.ServiceMonitor.GroupVersionResource(), m)
	a := answers(t, s, nil)
	overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	workload, err := a.Workload(t.Context(), everything, main)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := a.Sources(t.Context(), everything, main, insight.SourceQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]any{"overview": overview, "workload": workload, "sources": sources} {
		text, err := json.Marshal(answer)
		if err != nil || len(text) > 20_000 || !strings.Contains(string(text), "has no scrape class") || strings.Contains(string(text), "\ufffd") {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

// A workload for which the code panics does not affect responses about others.
func TestPanics(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	kinds, _ := setups()
	for i := range kinds {
		kind := *kinds[i].Kind
		open := kind.Open
		kind.Open = func(key types.NamespacedName) engine.Gatherer {
			if key.Name == "main" {
				return panicking{open(key)}
			}
			return open(key)
		}
		kinds[i].Kind = &kind
	}
	a := insight.New(insight.Parts{Reader: s, Setups: kinds, Fresh: func() ([]engine.Setup, error) { return kinds, nil }})
	overview, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	first, second := overview.Workloads[0], overview.Workloads[1]
	if first.Good || !strings.Contains(first.Message, "panicked on it") || second.Name != "well" || !second.Good {
		t.Errorf("got %+v", overview.Workloads)
	}
	if _, err := a.Config(t.Context(), everything, main, insight.ConfigQuery{Page: page}); err == nil || !strings.Contains(err.Error(), "panicked on it") {
		t.Errorf("config: %v", err)
	}
}

// panicking is a gatherer that panics.
type panicking struct{ engine.Gatherer }

// Gather implements [engine.Gatherer].
func (panicking) Gather(v1.Workload, engine.Cluster) (engine.Inputs, error) {
	panic("a regular expression")
}

// Permission to list in all watched namespaces is enough for a complete overview. Otherwise it has
// a note.
func TestRightsElsewhere(t *testing.T) {
	kinds, _ := setups()
	watched, err := informer.NewNamespaces([]string{"demo", "other"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kinds {
		kinds[i].Instances = watched
	}
	a := insight.New(insight.Parts{Reader: loaded(t, []byte(selectsAll)), Setups: kinds})
	for name, tc := range map[string]struct {
		rights allowed
		shown  int
		unread string
	}{
		"both": {allowed{"list * demo", "list * other"}, 2, "[]"},
		"one": {allowed{"list * demo", "list alertmanagers", "list prometheusagents", "list thanosrulers"}, 1,
			"[no permission to list prometheuses in all namespaces of the operator: those elsewhere are not shown]"},
	} {
		overview, err := a.Overview(t.Context(), tc.rights, insight.OverviewQuery{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(overview.Unread); got != tc.unread || len(overview.Workloads) != tc.shown {
			t.Errorf("%s: %d workloads, unread %s", name, len(overview.Workloads), got)
		}
	}
}

// The number of objects that a workload does not select has no objects of namespaces that the caller may not read.
func TestNotSelectedElsewhere(t *testing.T) {
	s := loaded(t, []byte(strings.ReplaceAll(selectsAll, "{}", "{matchLabels: {a: b}}")))
	for i, namespace := range []string{"demo", "other", "other"} {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("m", i), ResourceVersion: "1", Generation: 1}}
		s.objects[catalog.ServiceMonitor.GroupVersionResource()] = append(s.objects[catalog.ServiceMonitor.GroupVersionResource()], m)
	}
	a := answers(t, s, nil)
	for want, rights := range map[int]allowed{3: everything, 1: {"get * demo"}, 0: {"get prometheuses demo"}} {
		w, err := a.Workload(t.Context(), rights, main)
		if err != nil {
			t.Fatal(err)
		}
		if n := w.Counts[catalog.ServiceMonitor.Kind][status.NotSelected]; n != want {
			t.Errorf("%v: %d are not selected, want %d", rights, n, want)
		}
	}
}

// A failed permission check counts as denied and is reported.
func TestRightsUnknown(t *testing.T) {
	a := answers(t, loaded(t, []byte(selectsAll)), nil)
	overview, err := a.Overview(t.Context(), allowed{"error"}, insight.OverviewQuery{Page: page})
	if err != nil {
		t.Fatal(err)
	}
	if len(overview.Workloads) > 0 || len(overview.Unread) == 0 || !strings.Contains(overview.Unread[0], "does not answer") {
		t.Errorf("got %+v", overview)
	}
}
