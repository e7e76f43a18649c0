package engine

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// decided are inputs with nothing but results.
type decided []fragments.Result

func (d decided) Results() iter.Seq[fragments.Result] { return slices.Values(d) }
func (d decided) References() iter.Seq[assets.Ref]    { return slices.Values[[]assets.Ref](nil) }
func (d decided) Desired() (Plan, error)              { return Plan{}, nil }

// The outcome reports the finding that matters most to the user.
func TestOutcome(t *testing.T) {
	selected := decided{{Kind: v1.ProbeKind, Err: errors.New("bad")}}
	monitors := []Selects{{Row: catalog.ServiceMonitor}, {Row: catalog.PodMonitor}, {Row: catalog.Probe}}
	atWill := []Selects{{Row: catalog.AlertmanagerConfig}}
	perNode := slices.Clone(monitors)
	perNode[0].Never = func(v1.Workload) string { return "not with this mode" }
	perNode[2].Never = func(v1.Workload) string { return "" }
	large, unbound := growth{larger: []string{"db is large"}}, growth{larger: []string{"db is large"}, unbound: []string{"db is not bound"}}
	dropped := func(n int) (out []gate.Dropped) {
		for i := range n {
			out = append(out, gate.Dropped{Path: fmt.Sprintf("spec.f%02d", i), Need: ">= 2.0.0"})
		}
		return out
	}
	texts := func(all []gate.Dropped) (out []string) {
		for _, d := range all {
			out = append(out, d.Path+": needs Program "+d.Need+" and is left out")
		}
		return out
	}
	for name, tc := range map[string]struct {
		selects         []Selects
		in              decided
		plan            Plan
		reason, message string
	}{
		"nothing to say":               {monitors, selected, Plan{}, "", ""},
		"nothing selected":             {monitors, nil, Plan{}, "NoSelectedResources", "no ServiceMonitor, PodMonitor or Probe is selected"},
		"nothing selected of a kind":   {monitors[:1], nil, Plan{}, "NoSelectedResources", "no ServiceMonitor is selected"},
		"kinds that it cannot select":  {perNode, nil, Plan{}, "NoSelectedResources", "no PodMonitor or Probe is selected"},
		"what the kind says":           {monitors, selected, Plan{Reason: "R", Message: "m", Dropped: dropped(1)}, "R", "m"},
		"fields left out":              {monitors, selected, Plan{Dropped: dropped(2)}, "FieldsNotSupported", strings.Join(texts(dropped(2)), "; ")},
		"many fields left out":         {monitors, selected, Plan{Dropped: dropped(31)}, "FieldsNotSupported", strings.Join(texts(dropped(20)), "; ") + "; and 11 more"},
		"claims before all the rest":   {monitors, nil, Plan{growth: large, Reason: "R"}, "StorageCannotShrink", "db is large"},
		"claims that are not bound":    {monitors, nil, Plan{growth: unbound}, "ClaimNotBound", "db is not bound; db is large"},
		"a kind's word after nothing":  {monitors, nil, Plan{Reason: "R", Message: "m"}, "NoSelectedResources", "no ServiceMonitor, PodMonitor or Probe is selected"},
		"nothing needs to be selected": {atWill, nil, Plan{}, "", ""},
		"what such a kind says":        {atWill, nil, Plan{Reason: "R", Message: "m"}, "R", "m"},
	} {
		kind := &Kind{Selects: tc.selects, SelectsAtWill: &tc.selects[0] == &atWill[0], Program: "Program"}
		out := kind.outcome(&v1.Prometheus{}, kind.results(tc.in, false), tc.plan)
		if out.Reason != tc.reason || out.Message != tc.message || !slices.Equal(out.Dropped, texts(tc.plan.Dropped)) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestCount(t *testing.T) {
	kind := &Kind{Selects: []Selects{{Row: catalog.Probe}, {Row: catalog.PodMonitor}}}
	got := kind.results(decided{{Kind: v1.ProbeKind}, {Kind: v1.ProbeKind, Err: errors.New("bad")}}, false).counts
	if got[v1.ProbeKind] != (Selection{2, 1}) || got[v1.PodMonitorKind] != (Selection{}) || len(got) != 2 {
		t.Errorf("%v", got)
	}
}
