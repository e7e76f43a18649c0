package rules_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

// Rule objects are compiled to files, and the files are packed into ConfigMaps. An invalid object does
// not affect the others.
func Example() {
	object := func(name, expr string) *v1.PrometheusRule {
		o := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "1"}}
		o.Spec.Groups = []v1.RuleGroup{{Name: "a", Rules: []v1.Rule{{Record: "job:up:sum", Expr: intstr.FromString(expr)}}}}
		return o
	}
	selected := rules.Selection{
		Workload: fragments.Workload{Kind: v1.PrometheusKind, Namespace: "monitoring", Name: "k8s"},
		Settings: rules.PrometheusSettings(&v1.Prometheus{}, semver.MustParse("3.5.0")),
		Objects:  []*v1.PrometheusRule{object("good", "sum by (job) (up)"), object("bad", "sum by job (up")},
	}
	var (
		cache rules.Cache
		last  rules.LastPass
	)
	files := selected.Compile(&cache, &last)
	for _, f := range files {
		fmt.Println(f.Object.Name, f.Err)
	}
	plan := rules.Pack("prometheus-k8s-rulefiles", nil, files.Contents())
	fmt.Println(slices.Sorted(maps.Keys(files.Contents())), plan.Names)
	// Output:
	// good <nil>
	// bad spec.groups[0].rules[0].expr: 1:8: parse error: unexpected identifier "job" in grouping opts, expected "("; put the labels in parentheses (group "a", record "job:up:sum")
	// [shop-good-1.yaml] [prometheus-k8s-rulefiles-0]
}
