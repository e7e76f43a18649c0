package engine

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// orphan returns a pod that lost its StatefulSet; its label team is used by selectors.
func orphan(name, team string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name, Labels: map[string]string{appsv1.StatefulSetPodNameLabel: name, "team": team}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func withOwner(kind string, p *corev1.Pod) *corev1.Pod {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "x", Controller: new(true)}}
	return p
}

// unlabeled returns a pod that was not created by a StatefulSet, regardless of its name.
func unlabeled(name string) *corev1.Pod {
	p := orphan(name, "a")
	delete(p.Labels, appsv1.StatefulSetPodNameLabel)
	return p
}

// selecting returns a StatefulSet whose pods have the label team.
func selecting(team string, going bool) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}}}
	if going {
		s.DeletionTimestamp = new(metav1.Now())
	}
	return s
}

func TestLeftovers(t *testing.T) {
	for name, tc := range map[string]struct {
		sets map[string]*appsv1.StatefulSet
		pods []*corev1.Pod
		want []string
	}{
		"nothing":                          {nil, nil, nil},
		"adopted by itself":                {map[string]*appsv1.StatefulSet{"prometheus-web": selecting("a", false)}, []*corev1.Pod{orphan("prometheus-web-0", "a")}, nil},
		"of another selector":              {map[string]*appsv1.StatefulSet{"prometheus-web": selecting("b", false)}, []*corev1.Pod{orphan("prometheus-web-1", "a"), orphan("prometheus-web-0", "a")}, []string{"relabel prometheus-web-0", "relabel prometheus-web-1", "replace prometheus-web-0"}},
		"the StatefulSet is on its way":    {nil, []*corev1.Pod{orphan("prometheus-web-0", "a")}, nil},
		"it is being deleted":              {map[string]*appsv1.StatefulSet{"prometheus-web": selecting("b", true)}, []*corev1.Pod{orphan("prometheus-web-0", "a")}, nil},
		"a shard that nobody wants":        {nil, []*corev1.Pod{orphan("prometheus-web-shard-7-1", "a"), orphan("prometheus-web-shard-7-0", "a")}, []string{"remove prometheus-web-shard-7-1", "remove prometheus-web-shard-7-0"}},
		"it is still being deleted":        {map[string]*appsv1.StatefulSet{"prometheus-web-shard-7": selecting("a", true)}, []*corev1.Pod{orphan("prometheus-web-shard-7-0", "a")}, nil},
		"it is kept":                       {map[string]*appsv1.StatefulSet{"prometheus-web-shard-7": selecting("a", false)}, []*corev1.Pod{withOwner("StatefulSet", orphan("prometheus-web-shard-7-0", "a"))}, nil},
		"a DaemonSet was faster":           {nil, []*corev1.Pod{withOwner("DaemonSet", orphan("prometheus-web-shard-7-0", "a"))}, []string{"remove prometheus-web-shard-7-0"}},
		"of a DaemonSet from the start":    {nil, []*corev1.Pod{withOwner("DaemonSet", unlabeled("prometheus-web-shard-7-0"))}, nil},
		"the garbage collector is not yet": {nil, []*corev1.Pod{withOwner("StatefulSet", orphan("prometheus-web-shard-7-0", "a"))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range leftovers([]string{"prometheus-web"}, func(name string) (*appsv1.StatefulSet, bool) {
				s, ok := tc.sets[name]
				return s, ok
			}, tc.pods) {
				for _, p := range l.relabel {
					got = append(got, "relabel "+p.Name)
				}
				if l.replace != nil {
					got = append(got, "replace "+l.replace.Name)
				}
				for _, p := range l.remove {
					got = append(got, "remove "+p.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Pods get the labels of a new selector; an operator that may not patch pods replaces them one by one.
func TestRelabelOrReplace(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"allowed":   {nil, []string{"patch prometheus-web-0"}},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", nil), []string{"patch prometheus-web-0", "delete prometheus-web-0"}},
	} {
		p := orphan("prometheus-web-0", "a")
		kube := fake.NewClientset(p)
		kube.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return tc.err != nil, nil, tc.err })
		c := &Controller{writer: apply.NewWriter(kube, apply.Caches{})}
		l := leftBehind{set: selecting("b", false), relabel: []*corev1.Pod{p}, replace: p}
		if err := c.adjust(t.Context(), slog.New(slog.DiscardHandler), l); err != nil {
			t.Error(err)
		}
		var got []string
		for _, a := range kube.Actions() {
			got = append(got, fmt.Sprint(a.GetVerb(), " ", a.(interface{ GetName() string }).GetName()))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// sets is a cache of StatefulSets.
type sets map[string]*appsv1.StatefulSet

func (s sets) Get(_, name string) (*appsv1.StatefulSet, bool) { found, ok := s[name]; return found, ok }

func (s sets) List(string, informer.Where) []*appsv1.StatefulSet {
	return slices.Collect(maps.Values(s))
}

// Shard 1 of Prometheus web has the same name as Prometheus web-shard-1. If the latter gets its
// StatefulSet while the pods of the former still exist, it must not adopt them with their data.
func TestPodsAreNotMadeToFitAnothersStatefulSet(t *testing.T) {
	w := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "1"}}
	kind := named(catalog.ThanosRuler, "prometheus")
	kind.Shape = func(v1.Workload) Shape { return Shape{Sets: []Set{{Name: "prometheus-web"}}} }
	for name, tc := range map[string]struct {
		owner types.UID
		want  string
	}{"its own": {"1", "relabel"}, "another's": {"2", "remove"}} {
		sts := selecting("b", false)
		sts.OwnerReferences = []metav1.OwnerReference{{UID: tc.owner, Controller: new(true)}}
		c := &Controller{kind: kind, writer: apply.NewWriter(fake.NewClientset(), apply.Caches{StatefulSets: sets{"prometheus-web-shard-1": sts}})}
		got := ""
		for _, l := range c.leftovers(w, []*corev1.Pod{orphan("prometheus-web-shard-1-0", "a")}) {
			if len(l.relabel) > 0 {
				got += "relabel"
			}
			if len(l.remove) > 0 {
				got += "remove"
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
