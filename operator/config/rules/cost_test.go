package rules

import (
	"fmt"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// The namespace whose rules take longest to parse loses the longest ones.
func TestFitCosts(t *testing.T) {
	file := func(namespace, name string, f Fragment) File {
		o := &v1.PrometheusRule{}
		o.Namespace, o.Name = namespace, name
		return File{o, &CompressedFragment{Fragment: f}}
	}
	var fs Files
	for i := range 20 {
		fs = append(fs, file("greedy", fmt.Sprint("r", i), Fragment{Effort: budget.ExpressionEffort}))
	}
	fs = append(fs, file("team", "r", Fragment{Effort: budget.ExpressionEffort / 2}), file("invalid", "r", Fragment{Effort: budget.ServerEffort.All, Err: tooLarge(1)}))
	if left := fs.FitCosts(); len(left) != 5 || left[0].Namespace != "greedy" {
		t.Errorf("left out %v", left)
	}
	if fs[20].Err != nil {
		t.Errorf("a rule of another namespace: %v", fs[20].Err)
	}
	if again := fs.FitCosts(); len(again) > 0 {
		t.Errorf("left out again %v", again)
	}
}

// Any number of usual objects fits: each has 20 alerts of 600 bytes.
func TestManyUsualObjectsFit(t *testing.T) {
	fs := make(Files, 200_000)
	for i := range fs {
		fs[i] = File{&v1.PrometheusRule{}, &CompressedFragment{Fragment: Fragment{Regexps: 1_000, Effort: 400_000}}}
	}
	if left := fs.FitCosts(); len(left) > 0 {
		t.Errorf("%d are left out", len(left))
	}
}

// What an object costs is known after it is compiled, also with an enforced label.
func TestCostsOfAnObject(t *testing.T) {
	for _, label := range []string{"", "namespace"} {
		s := settings("3.13.2")
		s.EnforcedLabel = label
		f := Compile(object(of(record("a", `up{a=~"b.*"} + 1`))), s)
		if f.Err != nil || f.Regexps < 3 || f.Regexps > 50 || f.Effort < 50 || f.Effort > 1000 {
			t.Errorf("%+v", f)
		}
	}
}
