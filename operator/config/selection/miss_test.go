package selection

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestMisses(t *testing.T) {
	const in, notIn, exists, absent = metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist
	selector := &metav1.LabelSelector{
		MatchLabels: map[string]string{"app": "web"},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: in, Values: []string{"a", "b"}}, {Key: "tier", Operator: notIn, Values: []string{"x"}},
			{Key: "must", Operator: exists}, {Key: "never", Operator: absent},
		},
	}
	for name, tc := range map[string]struct {
		set  labels.Set
		want []string
	}{
		"nothing is missed":        {labels.Set{"app": "web", "team": "a", "must": "", "other": "1"}, nil},
		"each requirement by name": {labels.Set{"app": "db", "tier": "x", "never": "1"}, []string{`app=web, but app is "db"`, `must, but there is no label must`, `!never, but never is "1"`, `team in (a,b), but there is no label team`, `tier notin (x), but tier is "x"`}},
		"an empty value is there":  {labels.Set{"app": "", "team": "b", "must": "1"}, []string{`app=web, but app is ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rule(t, "own", selector, selector)
			for what, misses := range map[string][]Miss{"labels": r.labelMisses(tc.set), "namespace": r.namespaceMisses(tc.set)} {
				var got []string
				for _, m := range misses {
					got = append(got, m.String())
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: %s", what, diff)
				}
				if why := r.Why("own", tc.set, tc.set); (why == Selected) != (len(misses) == 0) {
					t.Errorf("%s: Why = %q with %d misses", what, why, len(misses))
				}
			}
		})
	}
	if none := (Rule{}); none.labelMisses(labels.Set{}) != nil || none.namespaceMisses(nil) != nil {
		t.Error("a rule without selectors misses something")
	}
}
