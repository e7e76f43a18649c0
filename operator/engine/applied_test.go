package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

func pod(name string, state delivery.State, message string) podOutcome {
	return podOutcome{Name: name, Started: true, Outcome: delivery.Outcome{State: state, Message: message}}
}

func TestConfigApplied(t *testing.T) {
	ran, refused := pod("a-0", delivery.Applied, ""), pod("a-1", delivery.Refused, "the server rejected it")
	waiting, silent := pod("a-2", delivery.Waiting, "on its way"), pod("a-3", delivery.Silent, "no answer")
	unstarted := podOutcome{Name: "a-4"}
	reloaded := pod("a-6", delivery.Reloaded, "it reloaded after the last change")
	asked := func(expected int, pods ...podOutcome) appliedInputs {
		return appliedInputs{Written: true, Askable: true, Expected: expected, Pods: pods}
	}
	for name, tc := range map[string]struct {
		in      appliedInputs
		status  v1.ConditionStatus
		reason  string
		message string
		unknown bool
	}{
		"all":                            {in: asked(1, ran), status: v1.ConditionTrue, reason: "AllPodsApplied", message: "1 of 1 pods run the configuration"},
		"no pods are wanted":             {in: asked(0), status: v1.ConditionTrue, reason: "AllPodsApplied", message: "0 of 0 pods run the configuration"},
		"one refuses, one waits":         {in: asked(3, ran, refused, waiting), status: v1.ConditionDegraded, reason: "ConfigurationRejected", message: "1 of 3 pods run the configuration\npod a-1: the server rejected it\npod a-2: on its way"},
		"every one refuses":              {in: asked(1, refused), status: v1.ConditionFalse, reason: "ConfigurationRejected", message: "0 of 1 pods run the configuration\npod a-1: the server rejected it"},
		"one is not started":             {in: asked(2, ran, unstarted), status: v1.ConditionDegraded, reason: "WaitingForPods", message: "1 of 2 pods run the configuration\npod a-4: not started"},
		"there are no pods yet":          {in: asked(2), status: v1.ConditionFalse, reason: "WaitingForPods", message: "0 of 2 pods run the configuration\n2 not created yet"},
		"none answers":                   {in: asked(1, silent), status: v1.ConditionUnknown, reason: "PodsNotReachable", message: "0 of 1 pods run the configuration\npod a-3: no answer"},
		"one answers, one does not":      {in: asked(2, ran, silent), status: v1.ConditionUnknown, reason: "PodsNotReachable", message: "1 of 2 pods run the configuration\npod a-3: no answer"},
		"one waits, one is silent":       {in: asked(2, waiting, silent), status: v1.ConditionFalse, reason: "WaitingForPods", message: "0 of 2 pods run the configuration\npod a-2: on its way\npod a-3: no answer"},
		"nobody may ask":                 {in: appliedInputs{Written: true, Pods: []podOutcome{ran}}, status: v1.ConditionUnknown, reason: "PodsNotReachable", message: "the reloaders listen inside of their pods only (spec.listenLocal)"},
		"one says only when it reloaded": {in: asked(2, ran, reloaded), status: v1.ConditionTrue, reason: "AllPodsReloaded", message: "1 of 2 pods run the configuration, 1 reloaded after it was written (they do not report content)\npod a-6: it reloaded after the last change"},
		"one reloaded, one refuses":      {in: asked(2, reloaded, refused), status: v1.ConditionDegraded, reason: "ConfigurationRejected", message: "0 of 2 pods run the configuration, 1 reloaded after it was written (they do not report content)\npod a-6: it reloaded after the last change\npod a-1: the server rejected it"},
		"none to run":                    {in: appliedInputs{Askable: true, Expected: 2}, status: v1.ConditionFalse, reason: "ConfigurationNotWritten", message: "no configuration has been written yet"},
		"none to run, and no pods":       {in: appliedInputs{Askable: true}, status: v1.ConditionTrue, reason: "AllPodsApplied", message: "0 of 0 pods run the configuration"},
		"nobody was asked yet":           {in: asked(1, pod("a-5", delivery.NotAsked, "")), unknown: true},
		"nothing was written yet":        {in: appliedInputs{Askable: true, Pods: []podOutcome{ran}}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := appliedOf(tc.in)
			if known == tc.unknown {
				t.Fatalf("known = %t", known)
			}
			if !known {
				return
			}
			want := v1.Condition{Type: "ConfigApplied", Status: tc.status, Reason: tc.reason, Message: tc.message}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigAppliedIsBounded(t *testing.T) {
	in := appliedInputs{Written: true, Askable: true}
	for i := range 500 {
		in.Pods = append(in.Pods, pod(fmt.Sprint("p-", i), delivery.Refused, strings.Repeat("x", 5000)))
	}
	got, _ := appliedOf(in)
	if n := len(got.Message); n > 4000 || !strings.HasSuffix(got.Message, "\nand 490 more") {
		t.Errorf("%d bytes: …%s", n, got.Message[max(0, n-30):])
	}
}

// After a restart of the operator, the previous condition remains until the pods have been queried.
func TestConfigAppliedStaysUntilPodsAreQueried(t *testing.T) {
	p := &v1.ThanosRuler{}
	p.Status.Conditions = []v1.Condition{{Type: "ConfigApplied", Status: v1.ConditionTrue, Reason: "AllPodsApplied", Message: "said before", ObservedGeneration: 2}}
	in := statusInputs{Workload: p, Known: true, Result: Result{Of: Version{Generation: 3}}, Now: now, Applied: appliedInputs{
		Written: true, Askable: true, Expected: 1, Pods: []podOutcome{pod("a-0", delivery.NotAsked, "")},
	}}
	got := statusOf(in).Conditions
	if len(got) != 3 || got[2].Message != "said before" || got[2].ObservedGeneration != 2 || got[1].ObservedGeneration != 3 {
		t.Errorf("conditions %v", got)
	}
	p.Status.Conditions = nil
	if got := statusOf(in).Conditions; len(got) != 2 {
		t.Errorf("conditions %v", got)
	}
}

// A reloader does not detect that its server is gone.
func TestAServerThatDoesNotRunHasAppliedNothing(t *testing.T) {
	said := delivery.Outcome{State: delivery.Applied}
	waits := func(message string) delivery.Outcome {
		return delivery.Outcome{State: delivery.Waiting, Message: message}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, tc := range map[string]struct {
		status corev1.ContainerStatus
		said   delivery.Outcome
		want   delivery.Outcome
	}{
		"it runs":                     {corev1.ContainerStatus{Name: "prometheus", State: running, Started: new(true)}, said, said},
		"nothing is known":            {corev1.ContainerStatus{Name: "prometheus"}, said, said},
		"another container waits":     {corev1.ContainerStatus{Name: "thanos-sidecar", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}, said, said},
		"it fails again and again":    {corev1.ContainerStatus{Name: "prometheus", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}, said, waits("its server is not running: CrashLoopBackOff")},
		"it ended":                    {corev1.ContainerStatus{Name: "prometheus", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled"}}}, said, waits("its server is not running: OOMKilled")},
		"it reads its log of changes": {corev1.ContainerStatus{Name: "prometheus", State: running, Started: new(false)}, said, waits("its server is starting")},
		"a refusal says more":         {corev1.ContainerStatus{Name: "prometheus", State: running, Started: new(false)}, delivery.Outcome{State: delivery.Refused}, delivery.Outcome{State: delivery.Refused}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{tc.status}}}
			if diff := cmp.Diff(tc.want, outcomeOfPod(trimPod(p), "prometheus", tc.said)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
