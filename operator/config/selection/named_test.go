package selection

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Events of a named object affect the owner regardless of labels, even if the owner selects nothing.
func TestNamed(t *testing.T) {
	a := types.NamespacedName{Namespace: "own", Name: "a"}
	base := types.NamespacedName{Namespace: "own", Name: "base"}
	var x Index
	x.Set(a, Rules{"Probe": Rule{own: "own"}.Naming(base)})
	for name, tc := range map[string]struct {
		kind string
		obj  Object
		want bool
	}{
		"the object":                      {"Probe", Object{Namespace: "own", Name: "base", Labels: labels.Set{"a": "b"}}, true},
		"another":                         {"Probe", Object{Namespace: "own", Name: "other"}, false},
		"one of the name elsewhere":       {"Probe", Object{Namespace: "far", Name: "base"}, false},
		"one of the name of another kind": {"PodMonitor", Object{Namespace: "own", Name: "base"}, false},
	} {
		if got := slices.Contains(x.SelectedBy(tc.kind, tc.obj), a); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An object that is selected by its labels is not selected while it is being deleted, nor if the workload names it for
// another purpose.
func TestTakes(t *testing.T) {
	all := rule(t, "own", nil, match())
	for name, tc := range map[string]struct {
		rule Rule
		meta metav1.ObjectMeta
		want bool
	}{
		"selected":             {all, metav1.ObjectMeta{Namespace: "own", Name: "a"}, true},
		"being deleted":        {all, metav1.ObjectMeta{Namespace: "own", Name: "a", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}, false},
		"named":                {all.Naming(types.NamespacedName{Namespace: "own", Name: "a"}), metav1.ObjectMeta{Namespace: "own", Name: "a"}, false},
		"another one is named": {all.Naming(types.NamespacedName{Namespace: "own", Name: "b"}), metav1.ObjectMeta{Namespace: "own", Name: "a"}, true},
	} {
		if got := tc.rule.Takes(&tc.meta); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Rules that select differently have different keys.
func TestKeys(t *testing.T) {
	name := types.NamespacedName{Namespace: "own", Name: "a"}
	labels := match("a", "b")
	for what, rules := range map[string][2]Rule{
		"namespaces instead of objects":      {rule(t, "own", labels, nil).Naming(name), rule(t, "own", nil, labels).Naming(name)},
		"the own namespace or all":           {rule(t, "own", nil, labels), rule(t, "own", match(), labels)},
		"one of two namespaces":              {rule(t, "own", nil, labels), rule(t, "far", nil, labels)},
		"one object is named":                {rule(t, "own", nil, labels), rule(t, "own", nil, labels).Naming(name)},
		"nothing instead of everything":      {rule(t, "own", nil, nil), rule(t, "own", nil, match())},
		"an object of the name of another's": {rule(t, "own", nil, labels).Naming(name), rule(t, "own", nil, labels).Naming(types.NamespacedName{Namespace: "far", Name: "a"})},
	} {
		if a, b := rules[0].Key(), rules[1].Key(); a == b {
			t.Errorf("%s: both have the key %q", what, a)
		}
	}
	if a, b := rule(t, "own", match(), labels).Key(), rule(t, "far", match(), labels).Key(); a != b {
		t.Errorf("rules that select the same have the keys %q and %q", a, b)
	}
}
