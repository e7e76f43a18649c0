package engine

import (
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Workloads of two kinds may have the same name.
func TestWorkloadOfPod(t *testing.T) {
	servers, agents := named(catalog.ThanosRuler, "prometheus"), named(catalog.Prometheus, "prom-agent")
	for workload, want := range map[string][2]bool{ // of servers, of agents
		"prometheus-web": {true, false}, "prometheus-web-shard-1": {true, false}, "prom-agent-web": {false, true}, "alertmanager-web": {false, false}, "": {false, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Labels: map[string]string{"name": "web"}}}
		if workload != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: workload}}
		}
		for i, kind := range []*Kind{servers, agents} {
			key, ok := kind.workloadOfPod(pod)
			if ok != want[i] || ok && key.String() != "team/web" {
				t.Errorf("%s, pod of %q: %s, %t", kind.Label, workload, key, ok)
			}
		}
	}
}

// Labels that the operator adds to everything may replace the one by which it finds pods. Pods from before the flag was
// set count too.
func TestPodsWithAddedLabels(t *testing.T) {
	for name, labels := range map[string]map[string]string{
		"none": nil, "another manager": {"app.kubernetes.io/managed-by": "Helm"}, "the same": {"app.kubernetes.io/managed-by": "prometheus-operator"},
		"another label": {"team": "a"},
	} {
		inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
			b.added = labels
			later := podOf("ruler-a")
			maps.Copy(later.Labels, labels)
			later.Name, later.UID, later.Labels[appsv1.StatefulSetPodNameLabel] = "ruler-a-1", "2", "ruler-a-1"
			foreign := podOf("other")
			foreign.Labels["app.kubernetes.io/managed-by"], foreign.Name = "Kustomize", "ruler-a-2"
			for _, p := range []*corev1.Pod{podOf("ruler-a"), later, foreign} {
				b.set(p)
			}
			b.set(ruler("a"))
			b.start(nil, f)
			b.settle()
			w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
			if got := fmt.Sprint(w.Status.Replicas, w.Status.AvailableReplicas) + " " + b.condition("a", v1.Available); got != "2 2 True" {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
}
