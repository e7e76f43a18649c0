package rules

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Suggestions for unknown functions and variables cost a few times the length of the name.
func TestSuggestionsAreBounded(t *testing.T) {
	long := strings.Repeat("r", 500_000)
	for name, rule := range map[string]v1.Rule{
		"function":          {Record: "a", Expr: intstr.FromString(long + "(up)")},
		"template function": {Alert: "a", Expr: intstr.FromString("up"), Annotations: map[string]string{"a": "{{ " + long + " 1 }}"}},
		"template variable": {Alert: "a", Expr: intstr.FromString("up"), Annotations: map[string]string{"a": "{{ $" + long + " }}"}},
	} {
		object := &v1.PrometheusRule{Spec: v1.PrometheusRuleSpec{Groups: []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{rule}}}}}
		budgettest.AtMost(t, name, 128<<20, func() {
			if f := Compile(object, Settings{}); f.Err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// TestWorstObjects: the cost of one object is bounded, regardless of its content.
func TestWorstObjects(t *testing.T) {
	budgettest.Exact(t)
	const (
		most     = 320 << 20 // bytes allocated: the YAML encoder produces much garbage
		mostKept = 8 << 20
	)
	list := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	group := func(rules string) string { return `{"spec":{"groups":[{"name":"g","rules":` + rules + `}]}}` }
	expression := func(text string) string {
		return group(`[{"record":"a","expr":` + strings.ReplaceAll(fmt.Sprintf("%q", text), `\x`, `\u00`) + `}]`)
	}
	alert := func(annotation string) string {
		return group(`[{"alert":"a","expr":"up","annotations":{"a":` + fmt.Sprintf("%q", annotation) + `}}]`)
	}
	for name, text := range map[string]string{
		"empty rules":         group(list(`{"expr":0}`, 140_000)),
		"as many as fit":      group(list(`{"expr":0}`, budget.Rules)),
		"records":             group(list(`{"record":"a","expr":"up"}`, budget.Rules)),
		"alerts":              group(list(`{"alert":"a","expr":"up"}`, 19_000)),
		"wrong names":         group(list(`{"record":"-","expr":"("}`, budget.Rules)),
		"groups":              `{"spec":{"groups":` + list(`{"name":"g","rules":[]}`, 60_000) + `}}`,
		"as many groups":      `{"spec":{"groups":` + list(`{"name":""}`, budget.Groups) + `}}`,
		"long expression":     expression(strings.Repeat("a", 500_000)),
		"too long expression": expression(strings.Repeat("a", 1_400_000)),
		"sum":                 expression(strings.Repeat("1+", 250_000) + "1"),
		"short sum":           expression(strings.Repeat("1+", 10_000) + "1"),
		"parentheses":         expression(strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000)),
		"matchers":            expression("up{" + strings.Repeat(`a="b",`, 4_000) + "}"),
		"regexes":             expression("up{" + strings.Repeat(`a=~"b{900}",`, 2_000) + "}"),
		"control characters":  expression(strings.Repeat("\x01", 200_000)),
		"template":            alert(strings.Repeat("{{ $labels.a }}", 30_000)),
		"levels of templates": alert(strings.Repeat("{{ if true }}", 20_000) + strings.Repeat("{{ end }}", 20_000)),
		"parentheses of one":  alert("{{ " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000) + " }}"),
		"unknown functions":   alert(strings.Repeat("{{ lables 1 }}", 30_000)),
		"long annotation":     alert(strings.Repeat("x", 500_000)),
		"lines":               alert(strings.Repeat("x\n", 200_000)),
		"labels":              group(`[{"alert":"a","expr":"up","labels":{` + entries(40_000) + `}}]`),
	} {
		if len(text) > budget.StoredBytes {
			t.Errorf("%s: no API server takes %d bytes", name, len(text))
		}
		object := &v1.PrometheusRule{}
		if err := json.Unmarshal([]byte(text), object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range []Settings{{}, {EnforcedLabel: "namespace"}} {
			f, allocated, kept := budgettest.Measure(func() Fragment { return Compile(object, s) })
			if allocated > most || kept > mostKept {
				t.Errorf("%s: %d bytes, of which %d are allocated and %d are kept; %.100v", name, len(text), allocated, kept, f.Err)
			}
			runtime.KeepAlive(f)
		}
	}
}

// entries returns n different labels in JSON.
func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":"v",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// A tenant exhausts the memory of the Prometheus of all tenants with an annotation or label: the program limits neither the
// time of templates nor the length of their output.
func TestTemplatesWithoutEnd(t *testing.T) {
	budgettest.Exact(t)
	for name, text := range map[string]string{
		"a number":  "{{ range 4000000000 }}x{{ end }}",
		"doubled":   `{{ $x := "a" }}{{ range 40 }}{{ $x = print $x $x }}{{ end }}`,
		"escaped":   `{{ $labels.a` + strings.Repeat(" | js", 40) + ` }}`,
		"widths":    `{{ $labels.a | printf "%999999s` + strings.Repeat("%[1]999999s", 100) + `" }}`,
		"recursion": `{{ template "__alert_a" . }}`,
		"levels":    strings.Repeat("{{if 1}}", 30_000) + strings.Repeat("{{end}}", 30_000),
	} {
		for field, rule := range map[string]v1.Rule{
			"annotations": {Alert: "a", Expr: intstr.FromString("up"), Annotations: map[string]string{"summary": text}},
			"labels":      {Alert: "a", Expr: intstr.FromString("up"), Labels: map[string]string{"summary": text}},
		} {
			object := &v1.PrometheusRule{Spec: v1.PrometheusRuleSpec{Groups: []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{rule}}}}}
			for _, s := range []Settings{{}, {EnforcedLabel: "namespace"}} {
				f, allocated, _ := budgettest.Measure(func() Fragment { return Compile(object, s) })
				if f.Err == nil || !strings.Contains(f.Err.Error(), `spec.groups[0].rules[0].`+field+`["summary"]`) || allocated > 64<<20 {
					t.Errorf("%s in %s: %d bytes, %v", name, field, allocated, f.Err)
				}
			}
		}
	}
}
