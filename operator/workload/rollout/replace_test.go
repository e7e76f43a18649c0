package rollout

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var recreatedAt = metav1.Unix(1000, 0)

// recreated returns a StatefulSet that its controller has observed.
func recreated(edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := statefulSet(edit...)
	s.Generation, s.CreationTimestamp = 1, recreatedAt
	s.Status.ObservedGeneration, s.Status.UpdateRevision = max(1, s.Status.ObservedGeneration), "new"
	return s
}

// member returns a pod that fits the result of recreated, changed by states.
func member(ordinal int, states ...string) *corev1.Pod {
	name := fmt.Sprintf("web-%d", ordinal)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(recreatedAt.Add(-time.Hour)),
			Labels:          map[string]string{"app": "web", appsv1.StatefulSetPodNameLabel: name, appsv1.ControllerRevisionHashLabelKey: "new"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{Subdomain: "operated", Volumes: []corev1.Volume{{Name: "db", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "db-" + name},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, s := range states {
		map[string]func(){
			"down":           func() { p.Status.Phase = corev1.PodPending },
			"going":          func() { p.DeletionTimestamp = new(metav1.Now()) },
			"young":          func() { p.CreationTimestamp = metav1.NewTime(recreatedAt.Add(time.Hour)) },
			"of that second": func() { p.CreationTimestamp = recreatedAt },
			"old revision":   func() { p.Labels[appsv1.ControllerRevisionHashLabelKey] = "old" },
			"other host":     func() { p.Spec.Subdomain = "before" },
			"no claim":       func() { p.Spec.Volumes = []corev1.Volume{{Name: "db"}} },
			"orphan":         func() { p.OwnerReferences = nil },
			"other labels":   func() { p.Labels["app"] = "x" },
		}[s]()
	}
	return p
}

func TestReplace(t *testing.T) {
	pods := func(all ...*corev1.Pod) []*corev1.Pod { return all }
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		edit func(*appsv1.StatefulSet)
		want string
	}{
		"all fit":                                 {pods(member(0), member(1)), nil, ""},
		"the lowest ordinal first":                {pods(member(0, "other host"), member(1, "other host")), nil, `web-0: its host name has the service name "before"`},
		"then the next":                           {pods(member(0, "young"), member(1, "other host")), nil, `web-1: its host name has the service name "before"`},
		"not before the last is ready":            {pods(member(0, "young", "down"), member(1, "other host")), nil, ""},
		"not before the last is there":            {pods(member(1, "other host")), nil, ""},
		"not while one goes":                      {pods(member(0, "other host", "going"), member(1, "other host")), nil, ""},
		"not while one that fits is down":         {pods(member(0, "other host"), member(1, "down")), nil, ""},
		"one that is down goes at once":           {pods(member(0, "no claim"), member(1, "no claim", "down")), nil, `web-1: it has no volume from the volume claim template "db"`},
		"one above is missing":                    {pods(member(0, "no claim"), member(1, "no claim")), func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(3)) }, `web-0: it has no volume from the volume claim template "db"`},
		"another host name goes with a rollout":   {pods(member(0, "other host", "old revision"), member(1, "other host")), nil, ""},
		"a missing volume stops a rollout":        {pods(member(0, "no claim", "old revision"), member(1, "no claim", "old revision")), nil, `web-0: it has no volume from the volume claim template "db"`},
		"not adopted":                             {pods(member(0, "orphan", "other labels", "old revision")), nil, "web-0: its labels do not match the selector"},
		"made by this StatefulSet, for a webhook": {pods(member(0, "young", "other host")), nil, ""},
		"of the second of the recreate":           {pods(member(0, "of that second", "other host")), nil, `web-0: its host name has the service name "before"`},
		"the user replaces pods": {pods(member(0, "other host")), func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}, ""},
		"nobody would create the next one": {pods(member(0, "other host")), func(s *appsv1.StatefulSet) { s.Generation = 9 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sts := recreated()
			if tc.edit != nil {
				tc.edit(sts)
			}
			got := ""
			if p, why := Replace(sts, tc.pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }); p != nil {
				got = p.Name + ": " + why
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// For all initial states, the pods are replaced one by one, and the process ends.
func TestReplaceEnds(t *testing.T) {
	for _, state := range []string{"other host", "no claim", "other labels"} {
		pods := []*corev1.Pod{member(0, state), member(1, state, "down"), member(2, state)}
		var order []string
		for range 9 {
			p, _ := Replace(recreated(), pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
			if p == nil {
				break
			}
			order = append(order, p.Name)
			_, i, _ := SetOf(p)
			pods[i] = member(i, "young")
		}
		if want := []string{"web-1", "web-0", "web-2"}; !slices.Equal(order, want) {
			t.Errorf("%s: %v, want %v", state, order, want)
		}
	}
}

func TestRelabel(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"an orphan that does not match":    {member(0, "orphan", "other labels"), true},
		"one that matches":                 {member(0, "orphan"), false},
		"one that is owned":                {member(0, "other labels"), false},
		"one that goes":                    {member(0, "orphan", "other labels", "going"), false},
		"one that somebody took out of it": {member(0, "orphan", "other labels", "young"), false},
	} {
		if got := Relabel(recreated(), tc.pod); (got != nil) != tc.want || tc.want && !maps.Equal(got, map[string]string{"app": "web"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSetOf(t *testing.T) {
	copied := member(0, "orphan")
	copied.Name = "web-debug-0"
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		set     string
		ordinal int
		orphan  bool
	}{
		"a pod":             {member(12), "web", 12, false},
		"an orphan":         {member(3, "orphan"), "web", 3, true},
		"a copy":            {copied, "", 0, false},
		"a pod of a node":   {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "prom-agent-web-24567"}}, "", 0, false},
		"a name of no form": {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{appsv1.StatefulSetPodNameLabel: "web"}}}, "", 0, false},
	} {
		set, ordinal, ok := SetOf(tc.pod)
		if set != tc.set || ordinal != tc.ordinal || ok != (tc.set != "") || Orphan(tc.pod) != tc.orphan {
			t.Errorf("%s: %q %d %t, orphan %t", name, set, ordinal, ok, Orphan(tc.pod))
		}
	}
}
