package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

// The hash of a reconciliation may equal the previous one although the delivered state differs.
func TestWhatPodsShouldHaveFollowsEveryReconciliation(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rules := func(dir string) map[string]string { return map[string]string{dir: "x"} }
	plan := Plan{Hash: "aa", Delivered: delivery.Content{Config: "c1", Dirs: rules("rules-0")}}
	asked := delivery.Pod{Scheme: "http", Ports: []int{8080}}
	first := delivered{}.next(&plan, asked, began, true)
	if first.hash != "aa" || first.want.Config != "c1" || !first.want.Since.Equal(began) || first.want.Before {
		t.Fatalf("after the first reconciliation: %+v", first)
	}
	later := began.Add(time.Hour)
	for name, tc := range map[string]struct {
		change  func(*Plan, *delivery.Pod)
		written bool
		version bool // differs
		since   time.Time
		before  bool
	}{
		"nothing changed":                    {func(*Plan, *delivery.Pod) {}, false, false, began, false},
		"other files only, certificates say": {func(p *Plan, _ *delivery.Pod) { p.Hash = "bb" }, true, true, began, false},
		"listenLocal is no longer set":       {func(_ *Plan, r *delivery.Pod) { r.Ports = []int{8080, 8081} }, false, true, began, false},
		"rules lie in another ConfigMap":     {func(p *Plan, _ *delivery.Pod) { p.Delivered.Dirs = rules("rules-1") }, true, true, later, false},
		"another configuration":              {func(p *Plan, _ *delivery.Pod) { p.Hash, p.Delivered.Config = "cc", "c2" }, true, true, later, false},
		"one that failed before had written": {func(p *Plan, _ *delivery.Pod) { p.Hash, p.Delivered.Config = "cc", "c2" }, false, true, later, true},
	} {
		t.Run(name, func(t *testing.T) {
			now, reloaders := plan, asked
			tc.change(&now, &reloaders)
			got := first.next(&now, reloaders, later, tc.written)
			if got.hash != now.Hash || (got.version != first.version) != tc.version || !got.want.Since.Equal(tc.since) || got.want.Before != tc.before {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff(now.Delivered, got.want.Content); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(reloaders, got.reloaders); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContainersOf(t *testing.T) {
	pod := func(change func(*corev1.Pod)) string {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{
			{Name: "prometheus", Ready: true, Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(100, 0)}}},
			{Name: "config-reloader", Ready: true, Started: new(true)},
		}}}
		change(p)
		return containersOf(trimPod(p))
	}
	same := pod(func(*corev1.Pod) {})
	for name, change := range map[string]func(*corev1.Pod){
		"another address":      func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.2" },
		"a restart":            func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ },
		"no longer ready":      func(p *corev1.Pod) { p.Status.ContainerStatuses[1].Ready = false },
		"started later":        func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.Unix(200, 0) },
		"another container":    func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Name = "x" },
		"not started any more": func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Started = nil },
	} {
		if pod(change) == same {
			t.Errorf("%s shows no difference", name)
		}
	}
	for name, change := range map[string]func(*corev1.Pod){
		"an annotation": func(p *corev1.Pod) { p.Annotations = map[string]string{delivery.Annotation: "aa"} },
		"a condition":   func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Message: "x"}} },
	} {
		if pod(change) != same {
			t.Errorf("%s makes a difference", name)
		}
	}
}
