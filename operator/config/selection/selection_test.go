package selection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

func match(kv ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	for i := 0; i+1 < len(kv); i += 2 {
		metav1.AddLabelToSelector(s, kv[i], kv[i+1])
	}
	return s
}

func TestWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		namespaces, objects *metav1.LabelSelector
		namespace           string
		nsLabels, objLabels labels.Set
		want                Reason
	}{
		"an absent selector selects nothing":                  {nil, nil, "own", nil, nil, NoSelector},
		"an empty selector selects everything beside owner":   {nil, match(), "own", nil, nil, Selected},
		"no namespace selector keeps to the own namespace":    {nil, match(), "other", nil, nil, NamespaceNotSelected},
		"an empty namespace selector takes every namespace":   {match(), match(), "other", nil, nil, Selected},
		"namespace labels must match":                         {match("team", "a"), match(), "own", labels.Set{"team": "b"}, nil, NamespaceNotSelected},
		"namespace labels that match":                         {match("team", "a"), match(), "x", labels.Set{"team": "a"}, nil, Selected},
		"object labels must match":                            {match(), match("app", "a"), "x", nil, labels.Set{"app": "b"}, LabelsNotSelected},
		"namespace is the first reason when both are against": {match("team", "a"), match("app", "a"), "x", nil, nil, NamespaceNotSelected},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse("own", "rule", tc.namespaces, tc.objects)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Why(tc.namespace, tc.nsLabels, tc.objLabels); got != tc.want {
				t.Errorf("Why = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseNamesTheField(t *testing.T) {
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	_, err := Parse("own", "podMonitor", nil, bad)
	if err == nil || !strings.HasPrefix(err.Error(), "spec.podMonitorSelector.matchExpressions[0].operator: ") {
		t.Errorf("object selector: %v", err)
	}
	_, err = Parse("own", "podMonitor", bad, match())
	if err == nil || !strings.HasPrefix(err.Error(), "spec.podMonitorNamespaceSelector.matchExpressions[0].operator: ") {
		t.Errorf("namespace selector: %v", err)
	}
}

func rule(t testing.TB, own string, namespaces, objects *metav1.LabelSelector) Rule {
	t.Helper()
	r, err := Parse(own, "x", namespaces, objects)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIndex(t *testing.T) {
	var x Index
	a, b := types.NamespacedName{Namespace: "one", Name: "a"}, types.NamespacedName{Namespace: "two", Name: "b"}
	x.Set(a, Rules{"PodMonitor": rule(t, "one", nil, match("app", "web"))})
	x.Set(b, Rules{"PodMonitor": rule(t, "two", match("team", "x"), match()), "Probe": rule(t, "two", match("prod", "yes"), match())})

	web := Object{Namespace: "one", Labels: labels.Set{"app": "web"}}
	db := Object{Namespace: "one", Labels: labels.Set{"app": "db"}}
	teamX := Object{Namespace: "three", NamespaceLabels: labels.Set{"team": "x"}}
	for name, tc := range map[string]struct{ got, want []types.NamespacedName }{
		"only the owner that selects it":   {x.SelectedBy("PodMonitor", web), []types.NamespacedName{a}},
		"nobody":                           {x.SelectedBy("PodMonitor", db), nil},
		"an owner that selected it before": {x.SelectedBy("PodMonitor", web, db), []types.NamespacedName{a}},
		"by namespace labels":              {x.SelectedBy("PodMonitor", teamX), []types.NamespacedName{b}},
		"another kind":                     {x.SelectedBy("ServiceMonitor", web), nil},
		"result over a namespace flips":    {x.NamespaceChanged("three", labels.Set{}, labels.Set{"prod": "yes"}), []types.NamespacedName{b}},
		"labels that nobody asks for":      {x.NamespaceChanged("three", labels.Set{}, labels.Set{"color": "red"}), nil},
		"a new namespace":                  {x.NamespaceAdded("one", labels.Set{"team": "x"}), []types.NamespacedName{b}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	x.Remove(b)
	if got := x.SelectedBy("PodMonitor", teamX); got != nil || x.Len() != 1 {
		t.Errorf("after Remove: %v", got)
	}
}

func BenchmarkSelectAmong(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			r := rule(b, "own", match("team", "a"), match("app", "web"))
			sets := make([]labels.Set, n)
			for i := range sets {
				sets[i] = labels.Set{"app": []string{"web", "db"}[i%2], "n": fmt.Sprint(i)}
			}
			ns := labels.Set{"team": "a"}
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range sets {
					r.Why("x", ns, s)
				}
			}
		})
	}
}

func TestExact(t *testing.T) {
	for name, tc := range map[string]struct {
		selector *metav1.LabelSelector
		want     string
	}{
		"nothing is selected": {nil, ""},
		"everything":          {&metav1.LabelSelector{}, ""},
		"a label":             {&metav1.LabelSelector{MatchLabels: map[string]string{"team": "web"}}, "team=web"},
		"one of one": {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: metav1.LabelSelectorOpExists}, {Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"web"}},
		}}, "team=web"},
		"one of two": {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "db"}}}}, ""},
		"not this":   {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web"}}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rule, err := Parse("own", "podMonitor", nil, tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			label, value, ok := rule.Exact()
			if got := label + "=" + value; ok != (tc.want != "") || ok && got != tc.want {
				t.Errorf("got %q, %t; want %q", got, ok, tc.want)
			}
		})
	}
}
