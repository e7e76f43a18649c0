package admission

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

// ruleObject returns a PrometheusRule with one group that contains these rules.
func ruleObject(rules ...string) string {
	return "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a, namespace: demo, uid: u}\n" +
		"spec:\n  groups:\n  - name: g\n    rules:\n    - " + strings.Join(rules, "\n    - ") + "\n"
}

func TestValidateRules(t *testing.T) {
	for name, tc := range map[string]struct{ manifest, want string }{
		"good":                        {ruleObject("{alert: A, expr: up == 0, for: 5m, labels: {severity: page}, annotations: {summary: 'is {{ $value | humanizePercentage }} {{ $externalLabels.cluster }} {{ $labels.job }}'}}"), ""},
		"no groups":                   {"metadata: {name: a}\nspec: {}", ""},
		"partial response strategy":   {"metadata: {name: a}\nspec: {groups: [{name: g, partial_response_strategy: nonsense}]}", ""},
		"a field of a newer CRD":      {ruleObject("{record: a, expr: 1, newer: true}"), ""},
		"an integer is an expression": {ruleObject("{record: a, expr: 1}"), ""},
		"two faults": {ruleObject("{alert: A, expr: vector(1)), annotations: {summary: '{{ $labels.job | printf “%s” }}'}}"),
			`spec.groups[0].rules[0].expr: 1:11: parse error: unexpected right parenthesis ')' (group "g", alert "A")` + "\n" +
				`spec.groups[0].rules[0].annotations["summary"]: unrecognized character in action: U+201C '“' (group "g", alert "A")`},
		"a boolean annotation": {ruleObject("{alert: A, expr: up, annotations: {enabled: true}}"),
			`spec.groups[0].rules[0].annotations.enabled: want a string, got true or false`},
		"wrong types": {ruleObject("{alert: A, expr: true, labels: [a]}"),
			"spec.groups[0].rules[0].expr: want an integer or a string, got true or false\nspec.groups[0].rules[0].labels: want an object, got a list"},
		"group twice": {"metadata: {name: a}\nspec: {groups: [{name: g}, {name: g}]}",
			`spec.groups[1].name: "g" is already the name of spec.groups[0] (group "g")`},
		"UTF-8 label": {ruleObject(`{record: a, expr: up, labels: {"a.b": c}}`),
			`spec.groups[0].rules[0].labels["a.b"]: "a.b" is not a valid label name: this version allows only letters, digits and _; write a_b (group "g", record "a")`},
		"experimental function": {ruleObject(`{record: a, expr: "limitk(1, up)"}`), `spec.groups[0].rules[0].expr: `},
		"duration":              {ruleObject("{alert: a, expr: up, for: 1x}"), `spec.groups[0].rules[0].for: unknown unit "x" in duration "1x" (group "g", alert "a")`},
		"too large":             {ruleObject(`{record: a, expr: "up{a='` + strings.Repeat("x", 600_000) + `'}"}`), "spec: the rule file has 600"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(t, New(Options{}), ValidateRulesPath, request(toJSON(t, tc.manifest), "prometheusrules v1"))
			got := causes(t, r)
			if strings.HasSuffix(tc.want, ": ") || strings.HasSuffix(tc.want, " 600") {
				if !strings.HasPrefix(got, tc.want) {
					t.Errorf("got %s, want %s…", got, tc.want)
				}
			} else if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if tc.want != "" && r.Result.Details.Name != "prometheusrules" {
				t.Errorf("details.name %q", r.Result.Details.Name)
			}
		})
	}
}

// UTF-8 names and optional features of PromQL can be enabled.
func TestSettings(t *testing.T) {
	manifest := toJSON(t, ruleObject(`{record: "a b", expr: "limitk(1, up)", labels: {"a.b": c}}`))
	h := New(Options{Rules: rules.Settings{UTF8Names: true, PromQL: parser.Options{EnableExperimentalFunctions: true}}})
	if got := causes(t, ask(t, h, ValidateRulesPath, request(manifest, "prometheusrules v1"))); got != "" {
		t.Error(got)
	}
	if got := causes(t, ask(t, New(Options{}), ValidateRulesPath, request(manifest, "prometheusrules v1"))); strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
}

// A function that newer versions do not have is a warning, because the version is not known.
func TestFormerFunctions(t *testing.T) {
	for rule, want := range map[string]string{
		"{record: a, expr: 'sum(holt_winters(b[5m], 0.5, 0.5))'}": "[PrometheusRule demo/a: spec.groups[0].rules[0].expr: function \"holt_winters\": its name is double_exponential_smoothing since 3.0.0, " +
			"which needs spec.enableFeatures: [promql-experimental-functions] of the workload (group \"g\", record \"a\")]",
		"{record: a, expr: 'up{job=\"holt_winters\"}'}": "[]",
		"{record: a, expr: up}":                         "[]",
	} {
		r := ask(t, New(Options{}), ValidateRulesPath, request(toJSON(t, ruleObject(rule)), "prometheusrules v1"))
		if got := fmt.Sprint(r.Warnings); !r.Allowed || got != want {
			t.Errorf("%s: allowed %t\ngot  %s\nwant %s", rule, r.Allowed, got, want)
		}
	}
}

// Resources that are routed to the wrong path are rejected.
func TestOtherResources(t *testing.T) {
	for _, tc := range []struct{ path, about, want string }{
		{ValidateRulesPath, "servicemonitors v1", "Unexpected resource kind: want prometheusrules.monitoring.coreos.com v1, got servicemonitors.monitoring.coreos.com v1"},
		{MutateRulesPath, "prometheusrules v2", "Unexpected resource kind: want prometheusrules.monitoring.coreos.com v1, got prometheusrules.monitoring.coreos.com v2"},
		{ValidateAlertmanagerConfigsPath, "alertmanagers v1", "Unexpected resource kind: want alertmanagerconfigs.monitoring.coreos.com, got alertmanagers.monitoring.coreos.com v1"},
		{ValidateAlertmanagerConfigsPath, "alertmanagerconfigs v1", "Unexpected resource version: want v1alpha1 or v1beta1, got v1"},
	} {
		r := ask(t, New(Options{}), tc.path, request([]byte("{}"), tc.about))
		if causes(t, r); r.Allowed || r.Result.Message != tc.want {
			t.Errorf("%s: %+v", tc.about, r.Result)
		}
	}
}

// Deletion is never rejected.
func TestDeletion(t *testing.T) {
	bad := toJSON(t, ruleObject("{alert: A, expr: ((}"))
	going := bytes.Replace(bad, []byte(`"name":"a"`), []byte(`"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"`), 1)
	for _, tc := range []struct {
		op      admissionv1.Operation
		raw     []byte
		allowed bool
	}{
		{admissionv1.Delete, nil, true},
		{admissionv1.Update, going, true},
		{admissionv1.Update, bad, false},
		{admissionv1.Create, nil, false},
	} {
		r := request(tc.raw, "prometheusrules v1")
		r.Operation = tc.op
		if got := ask(t, New(Options{}), ValidateRulesPath, r); got.Allowed != tc.allowed {
			t.Errorf("%s %.20s: %+v", tc.op, tc.raw, got)
		}
	}
}

// The number of causes in a rejection is limited.
func TestManyFaults(t *testing.T) {
	var all []string
	for range 3000 {
		all = append(all, "{alert: A, expr: '(('}")
	}
	r := ask(t, New(Options{}), ValidateRulesPath, request(toJSON(t, ruleObject(all...)), "prometheusrules v1"))
	if n := len(r.Result.Details.Causes); n != maxCauses+1 || r.Result.Details.Causes[maxCauses].Message != "and 2800 more" {
		t.Errorf("%d causes, the last is %+v", n, r.Result.Details.Causes[n-1])
	}
	if !strings.HasSuffix(r.Result.Message, "; and 2995 more") || len(r.Result.Message) > 4000 {
		t.Errorf("message %s", r.Result.Message)
	}
}

// Any object that fits into a request is checked in about a second; without limits, these would take
// many minutes. The limit of the test allows for loaded machines and the race detector.
func TestHostileRules(t *testing.T) {
	var many []string
	for i := range 50_000 {
		many = append(many, fmt.Sprintf(`{record: a%d, expr: 'up{a=~"\\pL{990}"}'}`, i))
	}
	for name, manifest := range map[string][]byte{
		"50,000 regular expressions": toJSON(t, ruleObject(many...)),
		"deep expression":            toJSON(t, ruleObject("{record: a, expr: '"+strings.Repeat("(", 500_000)+"'}")),
		"deep JSON":                  []byte(`{"spec":{"groups":` + strings.Repeat("[", 500_000) + `}}`),
		"deep regular expression":    toJSON(t, ruleObject(`{record: a, expr: 'up{a=~"`+strings.Repeat("(", 500_000)+`"}'}`)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range admissionPaths[:2] {
				begin := cputime.Now()
				if path == ValidateRulesPath && name != "deep JSON" {
					if r := ask(t, New(Options{}), path, request(manifest, "prometheusrules v1")); r.Allowed {
						t.Error("allowed")
					}
				} else {
					body := `{"request":{"resource":{"group":"monitoring.coreos.com","version":"v1","resource":"prometheusrules"},"object":` + string(manifest) + `}}`
					post(t, New(Options{}), path, strings.NewReader(body))
				}
				if took := cputime.Since(begin); took > time.Minute {
					t.Errorf("%s took %s", path, took)
				}
			}
		})
	}
}
