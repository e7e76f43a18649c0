package selection

import (
	"slices"
	"testing"

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
