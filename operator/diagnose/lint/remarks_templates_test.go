package lint

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// rulesOf returns an object with one group of rules.
func rulesOf(all ...v1.Rule) *v1.PrometheusRule {
	r := &v1.PrometheusRule{}
	r.Spec.Groups = []v1.RuleGroup{{Name: "g", Rules: all}}
	return r
}

// TestTemplateRemarks: valid templates whose result is not the intended text get a remark.
func TestTemplateRemarks(t *testing.T) {
	for text, want := range map[string]string{
		"{{ .labels.pod }} is down":   "warning annotations.summary: .labels is not in the data of alerts, so the text is an error message when the alert fires: did you mean .Labels?",
		"{{ .Values.cluster }}":       "warning annotations.summary: .Values is not in the data of alerts, so the text is an error message when the alert fires: charts of Helm have it; check what helm template renders, or use $labels",
		"{{ $.Name }} {{ .Name }}":    "warning annotations.summary: .Name is not in the data of alerts",
		"{{ if .Name }}a{{ end }}":    "warning annotations.summary: .Name is not",
		"$labels.pod is down":         "note annotations.summary: $labels.pod is not between {{ and }}, so it is not replaced: write {{ $labels.pod }}",
		"{ $value } of { $labels.a }": "note annotations.summary: { $value } is not between {{ and }}, so it is not replaced: write {{ $value }}",
		"${labels.pod} is down":       "note annotations.summary: ${labels.pod} is not between {{ and }}, so it is not replaced: write {{ $labels.pod }}",
		"${value} is too much":        "note annotations.summary: ${value} is not between {{ and }}, so it is not replaced: write {{ $value }}",
		"{{ .Labels.pod }} {{ .Value | humanize }} {{ .ExternalLabels.a }} {{ .ExternalURL }}":                         "",
		"{{ range query \"up\" }}{{ .Labels.pod }} {{ .Name }}{{ end }}{{ with query \"a\" }}{{ . | first }}{{ end }}": "",
		"{{ $labels.pod }} {{ $x := .Labels }}{{ $x.a }} costs $5, $value":                                             "",
		"{{`{{ $labels.pod }}`}} {{ \"{{\" }} $labels.pod {{ \"}}\" }}":                                                "",
		"{{ .broken": "",
	} {
		got := ""
		say := func(severity string) says {
			return func(field, format string, args ...any) {
				got += severity + " " + strings.TrimPrefix(field, "spec.groups[0].rules[0].") + ": " + fmt.Sprintf(format, args...)
			}
		}
		templateRemarks(say("warning"), say("note"), rulesOf(v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"summary": text}}))
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestLabelsNamedLikeFields: a field of the rule that is written as a label gets a note.
func TestLabelsNamedLikeFields(t *testing.T) {
	got := ""
	note := func(field, format string, args ...any) { got += field + ": " + fmt.Sprintf(format, args...) }
	rule := v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Labels: map[string]string{"for": "5m", "severity": "page"}}
	templateRemarks(note, note, rulesOf(rule))
	if want := "spec.groups[0].rules[0].labels.for: is a label of the alert here; the field for belongs beside labels"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRepeatedRules: a rule with name, expr and labels of another one of its group gets a remark.
func TestRepeatedRules(t *testing.T) {
	alert := func(expr, severity string) v1.Rule {
		return v1.Rule{Alert: "A", Expr: intstr.FromString(expr), Labels: map[string]string{"severity": severity}}
	}
	for name, tc := range map[string]struct {
		rules []v1.Rule
		want  string
	}{
		"the same":       {[]v1.Rule{alert("up", "page"), alert("up == 0", "page"), alert("up ", "page")}, "spec.groups[0].rules[2]: has name, expr and labels of spec.groups[0].rules[0], so their results are the same"},
		"another expr":   {[]v1.Rule{alert("up", "page"), alert("down", "page")}, ""},
		"other labels":   {[]v1.Rule{alert("up", "page"), alert("up", "info")}, ""},
		"another result": {[]v1.Rule{{Record: "a:b", Expr: intstr.FromString("up")}, {Record: "a:c", Expr: intstr.FromString("up")}}, ""},
	} {
		got := ""
		say := func(field, format string, args ...any) { got += field + ": " + fmt.Sprintf(format, args...) }
		repeatedRules(say, say, rulesOf(tc.rules...))
		if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestSeverityAnnotation: a severity that only annotations have gets a note.
func TestSeverityAnnotation(t *testing.T) {
	for want, rule := range map[string]v1.Rule{
		"spec.groups[0].rules[0].annotations.Severity: is an annotation, and the alert has no label severity": {Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"Severity": "page"}},
		"": {Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"severity": "page"}, Labels: map[string]string{"severity": "page"}},
	} {
		got := ""
		note := func(field, format string, args ...any) { got += field + ": " + fmt.Sprintf(format, args...) }
		templateRemarks(note, note, rulesOf(rule))
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
