package prometheus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/document"
)

// TestWhatPodsShouldHaveFollowsEveryPass has passes whose hash is that of the one
// before, and which leave something else behind all the same.
func TestWhatPodsShouldHaveFollowsEveryPass(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	plan := Plan{Hash: "aa", Config: document.Document{Hash: "c1"}, Rules: map[string]map[string]string{"rules-0": {"a.yaml": "x"}}, Reloaders: delivery.Pod{Scheme: "http", Ports: []int{8080}}}
	first := delivered{}.next(plan, began, true)
	if first.hash != "aa" || first.want.Config != "c1" || !first.want.Since.Equal(began) || first.want.Before {
		t.Fatalf("after the first pass: %+v", first)
	}
	later := began.Add(time.Hour)
	for name, tc := range map[string]struct {
		change  func(*Plan)
		written bool
		version bool // differs
		since   time.Time
		before  bool
	}{
		"nothing changed":                       {func(*Plan) {}, false, false, began, false},
		"other files only, certificates say":    {func(p *Plan) { p.Hash = "bb" }, true, true, began, false},
		"listenLocal is no longer set":          {func(p *Plan) { p.Reloaders.Ports = []int{8080, 8081} }, false, true, began, false},
		"rules lie in another ConfigMap":        {func(p *Plan) { p.Rules = map[string]map[string]string{"rules-1": {"a.yaml": "x"}} }, true, true, later, false},
		"another configuration":                 {func(p *Plan) { p.Hash, p.Config.Hash = "cc", "c2" }, true, true, later, false},
		"a pass that failed before had written": {func(p *Plan) { p.Hash, p.Config.Hash = "cc", "c2" }, false, true, later, true},
	} {
		t.Run(name, func(t *testing.T) {
			now := plan
			tc.change(&now)
			got := first.next(now, later, tc.written)
			if got.hash != now.Hash || (got.version != first.version) != tc.version || !got.want.Since.Equal(tc.since) || got.want.Before != tc.before {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff(now.content(), got.want.Content); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(now.Reloaders, got.reloaders); diff != "" {
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
