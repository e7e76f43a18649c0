package targets

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
)

const annotation = "__meta_kubernetes_pod_annotation_a"

// monitorOf is a monitor with the relabelings.
func monitorOf(steps ...string) string {
	return "{selector: {matchLabels: {app: web}}, endpoints: [{port: http, relabelings: [" + strings.Join(steps, ", ") + "]}]}"
}

// doubling returns steps each of which makes another label of every label.
func doubling(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("{action: labelmap, regex: '(.*)', replacement: 'a%d$1'}", i))
	}
	return out
}

// A target whose relabeling would take seconds or gigabytes is unknown, and its message names the
// field; no expression is matched for it.
func TestExpensiveTargets(t *testing.T) {
	repeat := func(step string, n int) []string { return strings.Split(strings.Repeat(step+"\n", n-1)+step, "\n") }
	// large begins with a long label x; more than nine doublings are rejected.
	large := func(step string) []string {
		return append([]string{"{sourceLabels: [" + annotation + "], targetLabel: x}"}, repeat(step, 8)...)
	}
	match := "{sourceLabels: [" + annotation + "], action: keep, regex: '(.*a|.*b){900}z'}"
	names := "{sourceLabels: [__meta_kubernetes_pod_name], action: drop, regex: '" + strings.Repeat("namespace-of-a-team|", 5_000) + "x'}"
	for name, tc := range map[string]struct {
		steps  []string
		value  int
		states map[State]int
		says   string
	}{
		"an expression for a long text":     {[]string{match}, 200_000, map[State]int{Unknown: 1}, "spec.endpoints[0].relabelings[0] matches a long regular expression"},
		"the same for a short text":         {[]string{match}, 10, map[State]int{Dropped: 1}, ""},
		"a long text":                       {[]string{"{sourceLabels: [" + annotation + "], action: drop, regex: x}"}, 200_000, map[State]int{Kept: 1}, ""},
		"many steps":                        {repeat("{sourceLabels: ["+annotation+"], action: drop, regex: '.*x.*y.*z'}", 200), 200_000, map[State]int{Unknown: 1}, "too expensive"},
		"names of labels":                   {repeat("{action: labeldrop, regex: '(abcdefghij|klmnopqrst){300}z'}", 40), 10, map[State]int{Unknown: 1}, "relabelings["},
		"a label that doubles":              {large("{sourceLabels: [x], targetLabel: x, regex: '(.*)', replacement: 'y$1$1'}"), 200_000, map[State]int{Unknown: 1}, "makes one"},
		"a label that is joined to itself":  {large("{sourceLabels: [x, x], targetLabel: x, replacement: 'yy$1'}"), 200_000, map[State]int{Unknown: 1}, "makes one"},
		"two labels that feed each other":   {append(large("{sourceLabels: [x, y], targetLabel: x, replacement: 'a$1'}\n{sourceLabels: [x, y], targetLabel: y, replacement: 'a$1'}")[:10], "{targetLabel: z, replacement: z}"), 200_000, map[State]int{Unknown: 1}, "makes one"},
		"a label of a name that is matched": {large("{sourceLabels: [x, x], targetLabel: 'x$2', regex: '(.*)', replacement: 'yy$1'}"), 200_000, map[State]int{Unknown: 1}, "makes one"},
		"labels that are mapped":            {large("{action: labelmap, regex: '(.*)', replacement: 'a$1$1'}")[:6], 200_000, map[State]int{Unknown: 1}, "makes one"},
		"labels that double":                {doubling(9), 10, map[State]int{Unknown: 1}, "reads too many labels"},
		"labels that double a bit":          {doubling(5), 10, map[State]int{Kept: 1}, ""},
		"what people write": {[]string{"{action: labelmap, regex: '__meta_kubernetes_pod_label_(.+)'}", "{sourceLabels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_name], separator: /, targetLabel: instance}",
			"{sourceLabels: [__address__, " + annotation + "], regex: '([^:]+)(?::\\d+)?;(\\d+)', replacement: '$1:$2', targetLabel: __address__}", "{action: labeldrop, regex: 'tmp_.*'}"}, 30_000, map[State]int{Kept: 1}, ""},
		"dropped after such a label": {append(large("{sourceLabels: [x, x], targetLabel: x, replacement: 'yy$1'}"), "{sourceLabels: [__meta_kubernetes_pod_name], action: drop, regex: web-0}"), 200_000, map[State]int{Dropped: 1}, ""},
		"a list of names":            {[]string{names}, 10, map[State]int{Kept: 1}, ""},
	} {
		j := job(t, slices1, monitorOf(tc.steps...))
		group := endpoint("10.0.0.7:8080", map[string]string{annotation: strings.Repeat("a", tc.value)})
		budgettest.AtMost(t, name, 8<<20, func() {
			result := j.Evaluate(Found{Groups: []*targetgroup.Group{group}})
			target := result.Targets()[0]
			if got := result.Counts(); fmt.Sprint(got) != fmt.Sprint(tc.states) || !strings.Contains(target.Message, tc.says) {
				t.Errorf("%s: %v, %q", name, got, target.Message)
			}
			if name == "dropped after such a label" {
				if _, err := result.Trace(0); err == nil || target.Drop == nil {
					t.Errorf("%s: its steps are run", name)
				}
			}
			if target.State != Unknown {
				return
			}
			if target.Source.Pod != "web-0" && target.Source.Name == "" || target.ID == "" || result.Index(target.ID) != 0 {
				t.Errorf("%s: nobody knows which target it is: %+v", name, target.Source)
			}
			if _, err := result.Trace(0); err == nil {
				t.Errorf("%s: its steps are run", name)
			}
			if _, outcomes := j.Group(group); outcomes[0].State != Unknown {
				t.Errorf("%s: alone it is %s", name, outcomes[0].State)
			}
		})
	}
}

// Each of many labels is compared with few others, for any steps: a pod can have 100,000 labels.
func TestManyLabels(t *testing.T) {
	const n = 20_000
	own, shared := model.LabelSet{}, model.LabelSet{"__meta_hidden": "a", "__meta_shared": "a"}
	for i := range n {
		own[model.LabelName(fmt.Sprint("__meta_kubernetes_pod_annotation_", i))] = "x"
	}
	own["__meta_hidden"], own[model.AddressLabel], own["__meta_empty"] = "", "10.0.0.7:8080", ""
	j := job(t, slices1, http)
	lb := labels.NewBuilder(labels.EmptyLabels())
	populate(lb, j.shards[0], own, shared)
	// added is the list that a builder searches for each label that is set, deleted or read.
	added := func() int { return reflect.ValueOf(lb).Elem().FieldByName("add").Len() }
	if added() > 20 || lb.Labels().Len() < n {
		t.Errorf("%d of %d labels are compared with each other", added(), lb.Labels().Len())
	}
	if lb.Get("__meta_hidden") != "" || lb.Get("__meta_shared") != "a" || lb.Labels().Has("__meta_empty") {
		t.Error("labels of the target do not come before those of the group")
	}
	result, err := finish(lb)
	if err != nil || result.Len() > 20 || added() > 20 {
		t.Errorf("%v, %d labels, %d are compared", err, result.Len(), added())
	}
}

// The steps of a target do not have the labels that they do not change, and together not too many that they do.
func TestTraceIsBounded(t *testing.T) {
	own := map[string]string{}
	for i := range 1000 {
		own[fmt.Sprint("__meta_kubernetes_pod_annotation_", i)] = "x"
	}
	trace := func(own map[string]string, step string) ([]Step, error) {
		var all []string
		for i := range 500 {
			all = append(all, strings.ReplaceAll(step, "N", fmt.Sprint(i)))
		}
		j := job(t, slices1, monitorOf(all...))
		result := j.Evaluate(Found{Groups: []*targetgroup.Group{endpoint("10.0.0.7:8080", own)}})
		if result.Rows[0].State != Kept {
			t.Fatal(result.Rows[0].Message)
		}
		var steps []Step
		var err error
		_, _, kept := budgettest.Measure(func() []Step {
			steps, err = result.Trace(0)
			return steps
		})
		if kept > 1<<20 {
			t.Errorf("the steps have %d bytes", kept)
		}
		return steps, err
	}
	steps, err := trace(own, "{sourceLabels: [a], targetLabel: a, replacement: x$1, regex: '(.*)'}")
	if err != nil || len(steps) < 500 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
	last := slices.IndexFunc(steps, func(s Step) bool { return strings.Contains(s.Origin, "relabelings[499]") })
	if got := steps[last]; len(got.Before) != 1 || len(got.After) != 1 || len(got.After["a"]) != len(got.Before["a"])+1 {
		t.Errorf("%.1000v", got)
	}
	long := map[string]string{annotation: strings.Repeat("x", 20_000)}
	if steps, err := trace(long, "{sourceLabels: ["+annotation+"], targetLabel: aN, replacement: $1$1}"); err == nil {
		t.Errorf("%d steps with a long label each", len(steps))
	}
}

// The targets of one job share a budget: evaluation stops when it is used up and reports that.
func TestJobBudget(t *testing.T) {
	j := job(t, slices1, monitorOf("{sourceLabels: ["+annotation+"], action: drop, regex: '(a|b)*x(c|d)*'}"))
	value := map[string]string{annotation: strings.Repeat("-", 200_000)}
	group := &targetgroup.Group{}
	one := endpoint("10.0.0.7:8080", value).Targets[0]
	cost, _ := j.costs.bound(sizeOf(one), func(name model.LabelName) int { return len(one[name]) })
	if cost < 1_000_000 || cost > budget.MatchSteps {
		t.Fatalf("a target costs %d", cost)
	}
	const n = 5_000
	for i := range n {
		group.Targets = append(group.Targets, endpoint(fmt.Sprintf("10.0.%d.%d:8080", i/250, i%250), value).Targets...)
	}
	e := newEvaluation(j, n)
	defer e.end()
	e.group(group)
	kept := 0
	for _, row := range e.rows {
		if row.State == Kept {
			kept++
		} else if row.State != Unknown || !strings.Contains(row.Message, "all time that one job may take") {
			t.Fatalf("%s: %s", row.State, row.Message)
		}
	}
	if most := 2 * budget.JobMatchSteps / cost; kept == 0 || kept > most || e.exact > budget.JobMatchSteps || e.spent > budget.JobMatchSteps/2 {
		t.Errorf("%d targets are evaluated, want at most %d; %d and %d steps", kept, most, e.exact, e.spent)
	}
}

// The jobs of one object share a budget: 400 endpoints may not cost 400 times the limit of one.
func TestObjectBudget(t *testing.T) {
	endpoint1 := "{port: http, relabelings: [{sourceLabels: [" + annotation + "], action: drop, regex: '(abcdefghij|klmnopqrst){28}z'}]}"
	group := endpoint("10.0.0.7:8080", map[string]string{annotation: strings.Repeat("-", 20_000)})
	for n, want := range map[int]State{1: Kept, 5: Kept, 400: Unknown} {
		all := jobs(t, slices1, "{selector: {matchLabels: {app: web}}, endpoints: ["+strings.Repeat(endpoint1+", ", n)+"]}")
		steps := 0
		for i := range all {
			e := newEvaluation(&all[i], 1)
			e.group(group)
			e.end()
			steps += e.exact + e.spent
			if e.rows[0].State != want {
				t.Fatalf("%d endpoints: %s, want %s: %s", n, e.rows[0].State, want, e.rows[0].Message)
			}
		}
		if steps > 2*wholeJobs*budget.MatchSteps {
			t.Errorf("%d endpoints cost %d steps", n, steps)
		}
	}
}

// Any number of expensive evaluations leaves half of the CPUs free.
func TestExpensiveEvaluationsWait(t *testing.T) {
	j := job(t, slices1, monitorOf("{sourceLabels: ["+annotation+"], action: drop, regex: '(.*a|.*b){50}z'}"))
	group := endpoint("10.0.0.7:8080", map[string]string{annotation: strings.Repeat("-", 20_000)})
	cheap := endpoint("10.0.0.7:8080", map[string]string{annotation: "-"})
	var held []*evaluation
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		e := newEvaluation(j, 1)
		e.group(group)
		held = append(held, e)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Outcomes(group)
	}()
	j.Outcomes(cheap) // does not wait
	select {
	case <-done:
		t.Error("an expensive evaluation did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	for _, e := range held {
		e.end()
	}
	<-done
}

// An evaluation stops when its caller cancels it.
func TestEvaluateWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := job(t, slices1, http)
	found := Found{Groups: []*targetgroup.Group{endpoint("10.0.0.7:8080", nil)}}
	if result, err := j.EvaluateWithin(ctx, found); err != nil || len(result.Rows) != 1 {
		t.Errorf("%v, %v", result.Rows, err)
	}
	cancel()
	if result, err := j.EvaluateWithin(ctx, found); !errors.Is(err, context.Canceled) || len(result.Rows) != 0 {
		t.Errorf("%v, %v", result.Rows, err)
	}
}

// The evaluation of one group may be interrupted before each target, and says when it is expensive.
func TestGroupsTakeTurns(t *testing.T) {
	j := job(t, slices1, monitorOf("{sourceLabels: ["+annotation+"], action: drop, regex: '(.*a|.*b){50}z'}"))
	group := endpoint("10.0.0.7:8080", map[string]string{annotation: strings.Repeat("-", 20_000)})
	group.Targets = slices.Repeat(group.Targets, 5)
	calls, slow := 0, 0
	outcomes := j.OutcomesInTurns(group, func(expensive bool) {
		calls++
		if expensive {
			slow++
		}
	})
	if len(outcomes) != 5 || calls < 5 || slow == 0 {
		t.Errorf("%d outcomes, %d calls, %d of them while it was expensive", len(outcomes), calls, slow)
	}
}
