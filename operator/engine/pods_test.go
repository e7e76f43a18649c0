package engine

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
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
