package rules

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A tenant could read series of other namespaces by queries in the templates of an alert, whose text is sent to a
// receiver of the tenant.
func TestQueriesOfTemplates(t *testing.T) {
	const refused = "the argument of query must be a constant"
	for in, want := range map[string]string{
		`{{ query "up" }}`: `{{ query "up{namespace=\"bar\"}" }}`,
		"{{ query `up{namespace=\"foo\"}` | first }}":   `{{ query "up{namespace=\"bar\"}" | first }}`,
		`a {{- with "sum(up)" | query -}} b {{ end }}é`: `a {{- with "sum(up{namespace=\"bar\"})" | query -}} b {{ end }}é`,
		`{{ range query "a" }}{{ else }}{{ len (query "b / c") }}{{ end }}`: `{{ range query "a{namespace=\"bar\"}" }}{{ else }}` +
			`{{ len (query "b{namespace=\"bar\"} / c{namespace=\"bar\"}") }}{{ end }}`,
		`{{ define "x" }}{{ query "a" }}{{ end }}{{ template "x" }}`:                      `{{ define "x" }}{{ query "a{namespace=\"bar\"}" }}{{ end }}{{ template "x" }}`,
		`{{ if (index (query "a") 0).Value }}{{ query "1" }}{{ end }}`:                    `{{ if (index (query "a{namespace=\"bar\"}") 0).Value }}{{ query "1" }}{{ end }}`,
		`{{ $value }} of {{ $labels.query }} {{ "query" }} {{ urlquery "up" }} query "a"`: "",
		`{{ query .Labels.x }}`:                                         refused,
		`{{ $q := "up" }}{{ query $q }}`:                                refused,
		`{{ printf "up{instance='%s'}" $labels.instance | query }}`:     refused,
		`{{ "up" | printf "%s" | query }}`:                              refused,
		`{{ "up" | query "down" }}`:                                     refused,
		`{{ template "x" query .Value }}{{ define "x" }}{{ end }}`:      refused,
		`{{ define "__alert_A" }}{{ query .q }}{{ end }}`:               "multiple definition",
		`{{ define "alert" }}{{ query .q }}{{ end }}{{ tmpl "alert" }}`: refused,
		`{{ query "up{" }}`:                                             "query: ",
		`{{ query`:                                                      "unclosed action",
	} {
		for _, field := range []string{"annotation", "label"} {
			r := v1.Rule{Alert: "A", Expr: intstr.FromString("up == 0")}
			texts := map[string]string{"text": in}
			if field == "label" {
				r.Labels = texts
			} else {
				r.Annotations = texts
			}
			object := &v1.PrometheusRule{Spec: v1.PrometheusRuleSpec{Groups: []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{r}}}}}
			object.Namespace = "bar"
			f := Compile(object, Settings{EnforcedLabel: "namespace"})
			switch {
			case strings.HasPrefix(want, "{{") || strings.HasPrefix(want, "a "):
				if got := textOf(t, f, field); f.Err != nil || got != want {
					t.Errorf("%s: %s %s, want %s; %v", in, field, got, want, f.Err)
				}
			case want == "":
				if got := textOf(t, f, field); f.Err != nil || got != in {
					t.Errorf("%s: %s %s; %v", in, field, got, f.Err)
				}
			case field == "annotation" && strings.HasPrefix(in, "{{ query \"up{") || field == "annotation" && want == refused: // the alert stays, without it
				if got := textOf(t, f, field); f.Err != nil || got != "" || len(f.Remarks) != 1 || !strings.Contains(f.Remarks[0].String(), want) {
					t.Errorf("%s: %s, %v, remarks %v, want %s", in, got, f.Err, f.Remarks, want)
				}
			case f.Err == nil || f.Content != "" || !strings.Contains(f.Err.Error(), want):
				t.Errorf("%s: %v, want %s", in, f.Err, want)
			}
			if texts["text"] != in {
				t.Errorf("%s: the object has changed", in)
			}
			if free := Compile(object, Settings{}); strings.Contains(want, "query") && !strings.Contains(want, "query: ") && want != refused && textOf(t, free, field) != in {
				t.Errorf("%s is changed though nothing is enforced", in)
			}
		}
	}
}

// textOf returns the annotation or label of the only rule of a file.
func textOf(t *testing.T, f Fragment, field string) string {
	t.Helper()
	doc, faults := rulefmt.Parse([]byte(f.Content), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(faults) > 0 {
		t.Fatalf("%v in %s", faults, f.Content)
	}
	if field == "label" {
		return doc.Groups[0].Rules[0].Labels["text"]
	}
	return doc.Groups[0].Rules[0].Annotations["text"]
}

// Many queries cost as much as they are long.
func TestManyQueries(t *testing.T) {
	l := limiter{parser: parser.NewParser(parser.Options{}), must: labels.MustNewMatcher(labels.MatchEqual, "namespace", "bar")}
	text := strings.Repeat(`{{query "a"}}`, 30_000)
	out, err := l.template("A", text)
	if err != nil || strings.Count(out, `"a{namespace=\"bar\"}"`) != 30_000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// The first unknown fields of a template with tens of thousands are found, in little time.
func TestManyUnknownFields(t *testing.T) {
	var text strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&text, "{{.a%d}}", i)
	}
	began := cputime.Now()
	if got := UnknownFields(text.String()); len(got) != budget.Faults || got[0] != "a0" {
		t.Errorf("%d fields", len(got))
	}
	if took := cputime.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}
