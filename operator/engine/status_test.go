package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// shard returns a StatefulSet at revision "new" and pods with the given states: "ready", "old"
// (ready, of an earlier revision) or the reason why it is not ready.
func shard(id int, states ...string) setPods {
	name := fmt.Sprintf("prometheus-main-shard-%d", id)
	s := setPods{Set: setOf(id), ID: strconv.Itoa(id), Key: "demo/" + name, StatefulSet: &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Status: appsv1.StatefulSetStatus{UpdateRevision: "new"},
	}}
	for i, state := range states {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "new"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: name}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
		switch state {
		case "ready":
		case "old":
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = "old"
		default:
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "last"},
				{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Message: state},
			}
		}
		s.Pods = append(s.Pods, p)
	}
	return s
}

func deleted(s setPods) setPods {
	s.StatefulSet.DeletionTimestamp = &now
	return s
}

// setOf returns the name and title of a shard.
func setOf(id int) Set {
	return Set{Name: fmt.Sprintf("prometheus-main-shard-%d", id), Title: fmt.Sprintf("shard %d: ", id)}
}

// waitingShard returns a shard with a pod whose containers wait, trimmed as in the cache.
func waitingShard() setPods {
	s := shard(0, "ready", "not ready")
	wait := func(name, reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	p := s.Pods[1]
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{wait("init-config-reloader", "ImagePullBackOff", "no such image")}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{
		wait("prometheus", "CrashLoopBackOff", ""), wait("config-reloader", "PodInitializing", ""),
		{Name: "rules-reloader", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}
	s.Pods[1] = trimPod(p)
	return s
}

func TestAvailable(t *testing.T) {
	missing := setPods{Set: setOf(1), ID: "1", Key: "demo/prometheus-main-shard-1"}
	for name, tc := range map[string]struct {
		shards []setPods
		want   v1.Condition
	}{
		"all ready": {[]setPods{shard(0, "ready", "old")}, v1.Condition{Status: v1.ConditionTrue}},
		"some ready": {[]setPods{shard(0, "ready", "image is missing")}, v1.Condition{
			Status: v1.ConditionDegraded, Reason: "SomePodsNotReady", Message: "shard 0: pod prometheus-main-shard-0-1: image is missing",
		}},
		"none ready": {[]setPods{shard(0, "a", "b")}, v1.Condition{
			Status: v1.ConditionFalse, Reason: "NoPodReady",
			Message: "shard 0: pod prometheus-main-shard-0-0: a\nshard 0: pod prometheus-main-shard-0-1: b",
		}},
		"no pods at all": {[]setPods{shard(0)}, v1.Condition{
			Status: v1.ConditionFalse, Reason: "NoPodReady",
			Message: "shard 0: 2 of 2 pods do not exist; the Events of StatefulSet demo/prometheus-main-shard-0 say why, such as a ResourceQuota, LimitRange or Pod Security level that refuses them",
		}},
		"being deleted, for example with its pods": {[]setPods{deleted(shard(0))}, v1.Condition{
			Status: v1.ConditionFalse, Reason: "NoPodReady",
			Message: "shard 0: statefulset demo/prometheus-main-shard-0 is being deleted, and is recreated once it is gone",
		}},
		"being deleted without its pods": {[]setPods{deleted(shard(0, "ready", "ready"))}, v1.Condition{Status: v1.ConditionTrue}},
		"what containers wait for comes last": {[]setPods{waitingShard()}, v1.Condition{
			Status: v1.ConditionDegraded, Reason: "SomePodsNotReady",
			Message: "shard 0: pod prometheus-main-shard-0-1: not ready; container init-config-reloader: ImagePullBackOff: no such image; " +
				"container prometheus: CrashLoopBackOff",
		}},
		"the worst shard counts and all reasons are named": {[]setPods{shard(0, "ready", "ready"), missing, shard(2, "x", "y")}, v1.Condition{
			Status: v1.ConditionFalse, Reason: "NoPodReadyAndStatefulSetNotFound",
			Message: "shard 1: statefulset demo/prometheus-main-shard-1 not found\n" +
				"shard 2: pod prometheus-main-shard-2-0: x\nshard 2: pod prometheus-main-shard-2-1: y",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.ThanosRuler{}
			got := statusOf(statusInputs{Workload: p, Replicas: 2, Sets: tc.shards, Known: true, Now: now}).Conditions[0]
			tc.want.Type, tc.want.LastTransitionTime = v1.Available, now
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A workload on thousands of nodes, on all of which its image is missing, has a status that fits into the object.
func TestAvailableIsBounded(t *testing.T) {
	var states []string
	for range 5000 {
		states = append(states, strings.Repeat("the image is missing ", 20))
	}
	got := statusOf(statusInputs{Workload: &v1.ThanosRuler{}, Replicas: 5000, Sets: []setPods{shard(0, states...)}, Known: true, Now: now}).Conditions[0]
	if len(got.Message) > budget.ConditionBytes || !strings.Contains(got.Message, "pod prometheus-main-shard-0-7: the image is missing") {
		t.Errorf("%d bytes", len(got.Message))
	}
}

func TestStatusCountsPods(t *testing.T) {
	p := &v1.ThanosRuler{}
	p.Spec.Paused = true
	going := deleted(shard(1, "ready", "ready"))
	got := statusOf(statusInputs{
		Workload: p, Replicas: 2, Sets: []setPods{shard(0, "ready", "old"), going, {ID: "2", Key: "demo/x"}}, Selector: map[string]string{"b": "2", "a": "1"},
		Known: true, Now: now,
	})
	want := Status{
		Selector:       "a=1,b=2",
		WorkloadStatus: v1.WorkloadStatus{Paused: true, Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 2},
		Sets: []v1.ShardStatus{
			{ShardID: "0", Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 2},
			{ShardID: "2"}, // missing: zeros; the one that is being deleted has no entry
		},
	}
	got.Conditions = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type annotationError struct{ error }

func (annotationError) ConditionReason() string { return "InvalidAnnotation" }

func TestReconciled(t *testing.T) {
	p := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "main", Generation: 7}}
	for name, tc := range map[string]struct {
		result Result
		known  bool
		want   v1.Condition
	}{
		"no reconciliation yet": {Result{}, false, v1.Condition{
			Status: v1.ConditionUnknown, Reason: "NotFound", Message: "not reconciled yet",
		}},
		"a failure drops the reason of the one before": {
			Result{Err: errors.New("spec.version: nonsense"), Outcome: Outcome{Reason: "NoSelectedResources"}}, true,
			v1.Condition{Status: v1.ConditionFalse, Reason: "ReconciliationFailed", Message: "spec.version: nonsense"},
		},
		"somebody else keeps changing objects back": {
			Result{Err: fmt.Errorf("write: %w", &WaitError{For: time.Second, Reason: `Secret "a"`, Condition: "WriteConflict"})}, true,
			v1.Condition{Status: v1.ConditionFalse, Reason: "WriteConflict", Message: `write: Secret "a"`},
		},
		"a field is quoted that is as long as an object": {Result{Err: errors.New(strings.Repeat("(", 1<<20))}, true,
			v1.Condition{Status: v1.ConditionFalse, Reason: "ReconciliationFailed", Message: strings.Repeat("(", 16<<10-len(" …")) + " …"}},
		"a failure has its own reason": {
			Result{Err: fmt.Errorf("gather: %w", annotationError{errors.New("x is wrong")})}, true,
			v1.Condition{Status: v1.ConditionFalse, Reason: "InvalidAnnotation", Message: "gather: x is wrong"},
		},
		"a failure is more than a wait": {
			Result{Err: errors.Join(errors.New("too large"), &WaitError{Reason: "a conflict", Condition: "WriteConflict"})}, true,
			v1.Condition{Status: v1.ConditionFalse, Reason: "ReconciliationFailed", Message: "too large\na conflict"},
		},
		"a success with a remark": {Result{Outcome: Outcome{Reason: "NoSelectedResources", Message: "m"}}, true,
			v1.Condition{Status: v1.ConditionTrue, Reason: "NoSelectedResources", Message: "m"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.want.Type, tc.want.LastTransitionTime, tc.want.ObservedGeneration = v1.Reconciled, now, 7
			if tc.known {
				tc.result.Of.Generation, tc.want.ObservedGeneration = 6, 6 // the author has changed it since then
			}
			got := statusOf(statusInputs{Workload: p, Result: tc.result, Known: tc.known, Now: now}).Conditions[1]
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTransitionTimeStandsWhileTheStatusDoes(t *testing.T) {
	earlier := metav1.NewTime(now.Add(-time.Hour))
	p := &v1.ThanosRuler{}
	p.Status.Conditions = []v1.Condition{
		{Type: v1.Available, Status: v1.ConditionFalse, LastTransitionTime: earlier},
		{Type: v1.Reconciled, Status: v1.ConditionTrue, LastTransitionTime: earlier},
	}
	got := statusOf(statusInputs{Workload: p, Replicas: 1, Sets: []setPods{shard(0, "ready")}, Known: true, Now: now}).Conditions
	if !got[0].LastTransitionTime.Equal(&now) || !got[1].LastTransitionTime.Equal(&earlier) {
		t.Errorf("times %v, %v", got[0].LastTransitionTime, got[1].LastTransitionTime)
	}
}

func TestOwnedPodsByOrdinal(t *testing.T) {
	pod := func(name, owner string, index string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: owner}}}}
		if index != "" {
			p.Labels = map[string]string{appsv1.PodIndexLabel: index}
		}
		return p
	}
	var names []string
	for _, p := range ownedPods("StatefulSet", "web", []*corev1.Pod{pod("web-10", "web", ""), pod("web-2", "web", "2"), pod("other-0", "other", ""), pod("web-0", "web", "")}) {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"web-0", "web-2", "web-10"}, names); diff != "" {
		t.Error(diff)
	}
}
