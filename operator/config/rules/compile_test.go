package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// object returns a PrometheusRule demo/web with the groups.
func object(groups ...v1.RuleGroup) *v1.PrometheusRule {
	return &v1.PrometheusRule{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "0e7a"},
		Spec:       v1.PrometheusRuleSpec{Groups: groups},
	}
}

// of returns a group "g" with the rules.
func of(rules ...v1.Rule) v1.RuleGroup { return v1.RuleGroup{Name: "g", Rules: rules} }

func record(name, expr string) v1.Rule { return v1.Rule{Record: name, Expr: intstr.FromString(expr)} }

func alert(name, expr string) v1.Rule { return v1.Rule{Alert: name, Expr: intstr.FromString(expr)} }

func with(r v1.Rule, change func(*v1.Rule)) v1.Rule { change(&r); return r }

func settings(version string) Settings {
	return PrometheusSettings(&v1.Prometheus{}, semver.MustParse(version))
}

func TestCompileRejects(t *testing.T) {
	m := func(kv ...string) map[string]string { return map[string]string{kv[0]: kv[1]} }
	annotated := func(text string) v1.RuleGroup {
		return of(with(alert("A", "up"), func(r *v1.Rule) { r.Annotations = m("summary", text) }))
	}
	labelled := func(name, value string) v1.RuleGroup {
		return of(with(alert("A", "up"), func(r *v1.Rule) { r.Labels = m(name, value) }))
	}
	for name, tc := range map[string]struct {
		version string // 3.13.2 if empty
		groups  []v1.RuleGroup
		want    string
	}{
		"group without a name":         {"", []v1.RuleGroup{{Rules: []v1.Rule{record("a", "up")}}}, `spec.groups[0].name: must be set`},
		"group named twice":            {"", []v1.RuleGroup{of(), {Name: "h"}, of()}, `spec.groups[2].name: "g" is already the name of spec.groups[0] (group "g")`},
		"interval without a unit":      {"", []v1.RuleGroup{{Name: "g", Interval: "30"}}, `spec.groups[0].interval: not a valid duration string: "30" (group "g")`},
		"interval with a blank":        {"", []v1.RuleGroup{{Name: "g", Interval: "1h 30m"}}, `spec.groups[0].interval: unknown unit "h " in duration "1h 30m" (group "g")`},
		"interval in the wrong order":  {"", []v1.RuleGroup{{Name: "g", Interval: "1s1h"}}, `spec.groups[0].interval: not a valid duration string: "1s1h" (group "g")`},
		"interval with a unit twice":   {"", []v1.RuleGroup{{Name: "g", Interval: "1h1h"}}, `spec.groups[0].interval: not a valid duration string: "1h1h" (group "g")`},
		"interval below zero":          {"", []v1.RuleGroup{{Name: "g", Interval: "-1m"}}, `spec.groups[0].interval: not a valid duration string: "-1m" (group "g")`},
		"interval of 300 years":        {"", []v1.RuleGroup{{Name: "g", Interval: "300y"}}, `spec.groups[0].interval: duration out of range (group "g")`},
		"query offset with a fraction": {"", []v1.RuleGroup{{Name: "g", QueryOffset: "1.5m"}}, `spec.groups[0].query_offset: unknown unit "." in duration "1.5m" (group "g")`},
		"group label __name__":         {"", []v1.RuleGroup{{Name: "g", Labels: m("__name__", "x")}}, `spec.groups[0].labels["__name__"]: "__name__" is not a valid label name (group "g")`},
		"group label without a name":   {"", []v1.RuleGroup{{Name: "g", Labels: m("", "x")}}, `spec.groups[0].labels[""]: "" is not a valid label name (group "g")`},
		"group label of broken UTF-8":  {"", []v1.RuleGroup{{Name: "g", Labels: m("a", "\xff")}}, `spec.groups[0].labels["a"]: the value is not valid UTF-8: "\xff" (group "g")`},
		"neither record nor alert":     {"", []v1.RuleGroup{of(record("", "up"))}, `spec.groups[0].rules[0]: one of record and alert must be set (group "g")`},
		"record and alert": {"", []v1.RuleGroup{of(with(record("a", "up"), func(r *v1.Rule) { r.Alert = "B" }))},
			`spec.groups[0].rules[0]: only one of record and alert must be set, has record "a" and alert "B" (group "g", alert "B")`},
		"no expression":          {"", []v1.RuleGroup{of(record("a", ""))}, `spec.groups[0].rules[0].expr: must be set (group "g", record "a")`},
		"only a comment":         {"", []v1.RuleGroup{of(record("a", "# up"))}, `spec.groups[0].rules[0].expr: 1:1: parse error: no expression found in input (group "g", record "a")`},
		"unclosed bracket":       {"", []v1.RuleGroup{of(record("a", "sum(up"))}, `spec.groups[0].rules[0].expr: 1:7: parse error: unclosed left parenthesis (group "g", record "a")`},
		"unknown function":       {"", []v1.RuleGroup{of(record("a", "sin2(up)"))}, `spec.groups[0].rules[0].expr: 1:1: parse error: unknown function with name "sin2", did you mean "sin"? (group "g", record "a")`},
		"wrong type of argument": {"", []v1.RuleGroup{of(record("a", "rate(up)"))}, `spec.groups[0].rules[0].expr: 1:6: parse error: expected type range vector in call to function "rate", got instant vector; add a range to the selector, such as [5m] (group "g", record "a")`},
		"selector without a matcher": {"", []v1.RuleGroup{of(record("a", `{a=""}`))},
			`spec.groups[0].rules[0].expr: 1:1: parse error: vector selector must contain at least one non-empty matcher; compare a label with something, as in job=~".+" (group "g", record "a")`},
		"bad regular expression": {"", []v1.RuleGroup{of(record("a", `up{a=~"("}`))},
			"spec.groups[0].rules[0].expr: 1:4: parse error: error parsing regexp: missing closing ): `(` (group \"g\", record \"a\")"},
		"experimental function": {"", []v1.RuleGroup{of(record("a", "mad_over_time(up[5m])"))},
			`spec.groups[0].rules[0].expr: 1:1: parse error: function "mad_over_time" is not enabled; set spec.enableFeatures: [promql-experimental-functions] of the workload (group "g", record "a")`},
		"for with letters only": {"", []v1.RuleGroup{of(with(alert("A", "up"), func(r *v1.Rule) { r.For = "soon" }))},
			`spec.groups[0].rules[0].for: not a valid duration string: "soon" (group "g", alert "A")`},
		"keep_firing_for with an unknown unit": {"", []v1.RuleGroup{of(with(alert("A", "up"), func(r *v1.Rule) { r.KeepFiringFor = "1mo" }))},
			`spec.groups[0].rules[0].keep_firing_for: unknown unit "mo" in duration "1mo" (group "g", alert "A")`},
		"recording rule with for": {"", []v1.RuleGroup{of(with(record("a", "up"), func(r *v1.Rule) { r.For = "1s" }))},
			`spec.groups[0].rules[0].for: a recording rule has no for: remove it, or write alert instead of record (group "g", record "a")`},
		"recording rule with keep_firing_for": {"", []v1.RuleGroup{of(with(record("a", "up"), func(r *v1.Rule) { r.KeepFiringFor = "1s" }))},
			`spec.groups[0].rules[0].keep_firing_for: a recording rule has no keep_firing_for: remove it, or write alert instead of record (group "g", record "a")`},
		"recording rule with annotations": {"", []v1.RuleGroup{of(with(record("a", "up"), func(r *v1.Rule) { r.Annotations = m("a", "b") }))},
			`spec.groups[0].rules[0].annotations: a recording rule has no annotations: remove them, or write alert instead of record (group "g", record "a")`},
		"record with a dash before 3.0": {"2.55.1", []v1.RuleGroup{of(record("a-b", "up"))},
			`spec.groups[0].rules[0].record: "a-b" is not a valid metric name: this version allows only letters, digits and _; write a_b (group "g", record "a-b")`},
		"record that is a selector": {"", []v1.RuleGroup{of(record(`a{b="c"}`, "up"))},
			`spec.groups[0].rules[0].record: "a{b=\"c\"}" must not contain braces; selectors belong into expr (group "g", record "a{b=\"c\"}")`},
		"label with a dot before 3.0": {"2.55.1", []v1.RuleGroup{labelled("a.b", "c")},
			`spec.groups[0].rules[0].labels["a.b"]: "a.b" is not a valid label name: this version allows only letters, digits and _; write a_b (group "g", alert "A")`},
		"label __name__": {"", []v1.RuleGroup{labelled("__name__", "x")},
			`spec.groups[0].rules[0].labels["__name__"]: "__name__" is not a valid label name (group "g", alert "A")`},
		"annotation with a blank before 3.0": {"2.55.1", []v1.RuleGroup{of(with(alert("A", "up"), func(r *v1.Rule) { r.Annotations = m("a b", "c") }))},
			`spec.groups[0].rules[0].annotations["a b"]: "a b" is not a valid annotation name: this version allows only letters, digits and _; write a_b (group "g", alert "A")`},
		"unclosed template": {"", []v1.RuleGroup{annotated("{{ $value")},
			`spec.groups[0].rules[0].annotations["summary"]: unclosed action; what {{ begins ends with }} (group "g", alert "A")`},
		"unknown template function": {"", []v1.RuleGroup{annotated("x\n{{ $value | human }}")},
			`spec.groups[0].rules[0].annotations["summary"]: line 2: function "human" not defined (group "g", alert "A")`},
		"unknown template variable": {"", []v1.RuleGroup{labelled("severity", "{{ $label.job }}")},
			`spec.groups[0].rules[0].labels["severity"]: undefined variable "$label", did you mean "$labels"? (group "g", alert "A")`},
		"template without its end": {"", []v1.RuleGroup{annotated("{{ if true }}x")},
			`spec.groups[0].rules[0].annotations["summary"]: unexpected EOF; what if, range or with begins ends with {{ end }} (group "g", alert "A")`},
	} {
		t.Run(name, func(t *testing.T) {
			version := tc.version
			if version == "" {
				version = "3.13.2"
			}
			s := settings(version)
			got := Compile(object(tc.groups...), s)
			if got.Err == nil {
				t.Fatalf("accepted:\n%s", got.Content)
			}
			if _, ok := errors.AsType[*InvalidError](got.Err); !ok {
				t.Errorf("error is a %T", got.Err)
			}
			if got.Content != "" {
				t.Errorf("a rejected object has content:\n%s", got.Content)
			}
			if d := cmp.Diff(tc.want, got.Err.Error()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			doc, _ := ruleFileOf(&object(tc.groups...).Spec, s)
			if text, err := doc.render(); err != nil || len(readByPrometheus(text, s)) == 0 {
				t.Errorf("Prometheus accepts what is rejected here (%v):\n%s", err, text)
			}
		})
	}
}

func TestCompileLimits(t *testing.T) {
	pad := func(n int) *v1.PrometheusRule {
		return object(of(with(alert("A", "up"), func(r *v1.Rule) {
			r.Annotations = map[string]string{"text": strings.Repeat("x", n)}
		})))
	}
	s := settings("3.13.2")
	empty := len(Compile(pad(0), s).Content) - len(`""`)

	if f := Compile(pad(MaxFileBytes-empty), s); f.Err != nil || len(f.Content) != MaxFileBytes {
		t.Errorf("a file of exactly the limit: %d bytes, %v", len(f.Content), f.Err)
	}
	f := Compile(pad(MaxFileBytes-empty+1), s)
	if want := "spec: the rule file has 524289 bytes, the limit is 524288"; f.Err == nil || f.Err.Error() != want {
		t.Errorf("one byte more: %v, want %s", f.Err, want)
	}

	big := pad(MaxFileBytes)
	big.Spec.Groups[0].Rules[0].Expr = intstr.FromString("sum(")
	if f := Compile(big, s); f.Err == nil || strings.Contains(f.Err.Error(), "expr") {
		t.Errorf("the size must be the only fault, got %v", f.Err)
	}

	long := object(of())
	long.Namespace, long.Name = strings.Repeat("n", 63), strings.Repeat("w", 253-63-2-len(long.UID)-len(".yaml"))
	if f := Compile(long, s); f.Err != nil || len(f.FileName) != 253 {
		t.Errorf("a file name of exactly the limit: %d bytes, %v", len(f.FileName), f.Err)
	}
	long.Name += "w"
	want := "metadata.name: namespace, name and uid make a file name of 254 bytes, a ConfigMap allows 253"
	if f := Compile(long, s); f.Err == nil || f.Err.Error() != want {
		t.Errorf("one byte more: %v, want %s", f.Err, want)
	}
}

// A group that is evaluated each millisecond occupies the server of all.
func TestShortIntervals(t *testing.T) {
	for interval, want := range map[string]string{
		"100ms": "", "0s": "", "": "",
		"99ms": `spec.groups[0].interval: 99ms is shorter than 100 ms, the least interval, because the server would do little else: did you mean 99s? (group "g")`,
	} {
		f := Compile(object(v1.RuleGroup{Name: "g", Interval: v1.Duration(interval)}), settings("3.13.2"))
		if want == "" && f.Err != nil || want != "" && (f.Err == nil || f.Err.Error() != want) {
			t.Errorf("%q: got %v, want %s", interval, f.Err, want)
		}
	}
}

// A tenant occupies the Prometheus of all tenants with thousands of groups that are evaluated ten times a second.
func TestManyEvaluations(t *testing.T) {
	for name, c := range map[string]struct {
		groups, rules int
		interval      v1.Duration
		want          string
	}{
		"many rules":         {10, 500, "1m", ""},
		"by default":         {budget.Groups, 1, "", ""},
		"as many":            {200, 1, "100ms", ""},
		"too many":           {201, 1, "100ms", `spec.groups[].interval: with these intervals, 2010 rules are evaluated in a second, more than 2000, the limit of one PrometheusRule: write longer ones`},
		"invalid, not a lot": {1, 1, "x", `spec.groups[0].interval: not a valid duration string: "x" (group "g0")`},
		"without rules":      {budget.Groups / 2, 0, "100ms", ""},
	} {
		groups := make([]v1.RuleGroup, c.groups)
		for i := range groups {
			groups[i] = v1.RuleGroup{Name: fmt.Sprint("g", i), Interval: c.interval}
			for range c.rules {
				groups[i].Rules = append(groups[i].Rules, record("a", "1"))
			}
		}
		got := ""
		if f := Compile(object(groups...), settings("3.13.2")); f.Err != nil {
			got = f.Err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}

func TestCompileTellsWhatItCompiled(t *testing.T) {
	in := object(of(record("a", "up"), alert("B", "up")), v1.RuleGroup{Name: "h"})
	before := in.DeepCopy()
	s := settings("3.13.2")
	s.EnforcedLabel = "namespace"
	f := Compile(in, s)
	if f.FileName != "demo-web-0e7a.yaml" || f.Groups != 2 || f.Rules != 2 || f.Err != nil {
		t.Errorf("fragment = %+v", f)
	}
	if d := cmp.Diff(before, in); d != "" {
		t.Errorf("the object was changed:\n%s", d)
	}
	if d := cmp.Diff(f, Compile(in, s)); d != "" {
		t.Errorf("compiling again differs:\n%s", d)
	}
}

func TestInvalidErrorIsBounded(t *testing.T) {
	var rules []v1.Rule
	for range 400 {
		rules = append(rules, alert("A", strings.Repeat("x", 1000)+"é"))
	}
	f := Compile(object(of(rules...)), settings("3.13.2"))
	text := f.Err.Error()
	if len(text) > 20_000 || !strings.HasSuffix(text, "\nand 380 more") {
		t.Errorf("%d bytes, ends %q", len(text), text[max(0, len(text)-40):])
	}
	if invalid, ok := errors.AsType[*InvalidError](f.Err); !ok || len(invalid.Faults) != 400 {
		t.Error("not all faults are kept")
	}
}
