package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestStatusOfNodes(t *testing.T) {
	pod := func(name string, ready bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, Message: "it starts"}}
		return p
	}
	set := func(generation, observed int64, desired, updated int32) *appsv1.DaemonSet {
		return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: generation}, Status: appsv1.DaemonSetStatus{
			ObservedGeneration: observed, DesiredNumberScheduled: desired, UpdatedNumberScheduled: updated,
		}}
	}
	for name, tc := range map[string]struct {
		nodes Nodes
		want  v1.ShardStatus
		is    v1.ConditionStatus
		why   string
		text  string
	}{
		"there is none": {Nodes{Key: "team/prom-agent-web"}, v1.ShardStatus{ShardID: "0"},
			v1.ConditionFalse, "DaemonSetNotFound", "daemonset team/prom-agent-web not found"},
		"just made": {Nodes{DaemonSet: set(1, 0, 0, 0)}, v1.ShardStatus{ShardID: "0"}, v1.ConditionFalse, "NoPodReady", ""},
		"no node":   {Nodes{DaemonSet: set(1, 1, 0, 0)}, v1.ShardStatus{ShardID: "0"}, v1.ConditionTrue, "", ""},
		"all ready": {Nodes{DaemonSet: set(1, 1, 2, 2), Pods: []*corev1.Pod{pod("a", true), pod("b", true)}},
			v1.ShardStatus{ShardID: "0", Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, v1.ConditionTrue, "", ""},
		"one starts": {Nodes{DaemonSet: set(1, 1, 2, 2), Pods: []*corev1.Pod{pod("a", true), pod("b", false)}},
			v1.ShardStatus{ShardID: "0", Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1, UnavailableReplicas: 1},
			v1.ConditionDegraded, "SomePodsNotReady", "pod b: it starts"},
		"the spec is newer than the numbers": {Nodes{DaemonSet: set(2, 1, 1, 1), Pods: []*corev1.Pod{pod("a", true)}},
			v1.ShardStatus{ShardID: "0", Replicas: 1, AvailableReplicas: 1}, v1.ConditionDegraded, "SomePodsNotReady", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &v1.ThanosRuler{}
			got := statusOf(statusInputs{Workload: w, Nodes: &tc.nodes, Known: true, Now: now})
			if diff := cmp.Diff([]v1.ShardStatus{tc.want}, got.Sets); diff != "" {
				t.Error(diff)
			}
			if c := got.Conditions[0]; c.Status != tc.is || c.Reason != tc.why || c.Message != tc.text {
				t.Errorf("Available %s %q %q", c.Status, c.Reason, c.Message)
			}
			w.Status.WorkloadStatus = got.WorkloadStatus
			kind := named(catalog.ThanosRuler, "prom-agent")
			kind.Shape = func(v1.Workload) Shape { return Shape{DaemonSet: "prom-agent-web"} }
			if as := (&Controller{kind: kind}).asWanted(w); as != (tc.is == v1.ConditionTrue) {
				t.Errorf("looked at again: %t", !as)
			}
		})
	}
}
