package targets

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
)

// A group that a step drops by labels of the group costs as much as its first target, and its targets have the outcome
// that each of them has alone. Targets with labels of their own that such a step reads are evaluated one by one.
func TestGroupsOfOtherJobs(t *testing.T) {
	j := job(t, slices1, monitorOf("{action: drop, sourceLabels: [__meta_kubernetes_namespace], regex: other}"))
	const app = "__meta_kubernetes_service_label_app"
	group := func(n int, shared, own model.LabelSet) *targetgroup.Group {
		g := &targetgroup.Group{Source: "a", Labels: model.LabelSet{"__meta_kubernetes_service_labelpresent_app": "true", "__meta_kubernetes_namespace": "demo"}.Merge(shared)}
		for i := range n {
			target := model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.0.%d:80", i)), "__meta_kubernetes_endpointslice_port_name": "http"}
			if i > 0 {
				target = target.Merge(own)
			}
			g.Targets = append(g.Targets, target)
		}
		return g
	}
	evaluate := func(groups ...*targetgroup.Group) (cost int, out []string) {
		e := newEvaluation(j, 0)
		defer e.end()
		for _, g := range groups {
			e.group(g)
		}
		for _, r := range e.rows {
			line := fmt.Sprint(r.State, r.Shards)
			if r.Drop != nil {
				line += fmt.Sprint(" ", r.Drop.Step, r.Drop.Value)
			}
			out = append(out, line)
		}
		return e.spent + e.exact, out
	}
	for name, tc := range map[string]struct {
		shared, own model.LabelSet
		once        bool
	}{
		"another service":      {model.LabelSet{app: "db"}, nil, true},
		"no label of that":     {nil, nil, true},
		"this service":         {model.LabelSet{app: "web"}, nil, false},
		"targets of their own": {model.LabelSet{app: "db"}, model.LabelSet{app: "web"}, false},
		"another port":         {model.LabelSet{app: "web"}, model.LabelSet{"__meta_kubernetes_endpointslice_port_name": "admin"}, false},
	} {
		one, _ := evaluate(group(1, tc.shared, tc.own))
		all := group(50, tc.shared, tc.own)
		cost, got := evaluate(all)
		if once := cost == one; once != tc.once {
			t.Errorf("%s: 50 targets cost %d, one %d", name, cost, one)
		}
		var each []*targetgroup.Group
		for _, target := range all.Targets {
			each = append(each, &targetgroup.Group{Source: "a", Labels: all.Labels, Targets: []model.LabelSet{target}})
		}
		if _, want := evaluate(each...); !cmp.Equal(want, got) {
			t.Errorf("%s: each alone -, together +\n%s", name, cmp.Diff(want, got))
		}
	}
}
