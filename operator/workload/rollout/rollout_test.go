package rollout

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func statefulSet(edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		ServiceName: "operated", PodManagementPolicy: appsv1.ParallelPodManagement,
		Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "db"}}},
	}}
	for _, e := range edit {
		e(s)
	}
	return s
}

func TestMisfit(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*appsv1.StatefulSet)
		why  string
	}{
		"nothing":   {func(*appsv1.StatefulSet) {}, ""},
		"policy":    {func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement }, ""},
		"template":  {func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.NodeName = "x" }, ""},
		"no claims": {func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates = nil }, ""},
		"size of claims": {func(s *appsv1.StatefulSet) {
			s.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		}, ""},
		"another claim": {func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates[0].Name = "data" }, `volume claim template "data" is new, and the volumes of a pod are immutable`},
		"service":       {func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "mine" }, `serviceName changes from "operated" to "mine", and with it the pods' host names`},
		"selector":      {func(s *appsv1.StatefulSet) { s.Spec.Selector.MatchLabels["team"] = "x" }, "the selector changes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Misfit(statefulSet(), statefulSet(tc.edit)); got != tc.why {
				t.Errorf("%q, want %q", got, tc.why)
			}
		})
	}
}

func TestStuck(t *testing.T) {
	pod := func(name, revision string, going ...bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}}}
		if len(going) > 0 {
			p.DeletionTimestamp = &metav1.Time{}
		}
		return p
	}
	for name, tc := range map[string]struct {
		pods     []*corev1.Pod
		observed int64
		want     string
	}{
		"none":                             {nil, 2, ""},
		"of the revisions of the rollout":  {[]*corev1.Pod{pod("0", "old"), pod("1", "new")}, 2, ""},
		"between them":                     {[]*corev1.Pod{pod("0", "old"), pod("1", "middle")}, 2, "1"},
		"the highest ordinal first":        {[]*corev1.Pod{pod("0", "middle"), pod("1", "middle"), pod("2", "new")}, 2, "1"},
		"one that is ready does not block": {[]*corev1.Pod{pod("0", "middle"), pod("ready", "middle")}, 2, "0"},
		"one that goes does not block":     {[]*corev1.Pod{pod("0", "middle"), pod("1", "middle", true)}, 2, "0"},
		"the latest spec was not seen yet": {[]*corev1.Pod{pod("0", "middle")}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sts := statefulSet(func(s *appsv1.StatefulSet) {
				s.Generation = 2
				s.Status = appsv1.StatefulSetStatus{ObservedGeneration: tc.observed, CurrentRevision: "old", UpdateRevision: "new"}
			})
			got := ""
			if p := Stuck(sts, tc.pods, func(p *corev1.Pod) bool { return p.Name == "ready" }); p != nil {
				got = p.Name
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
