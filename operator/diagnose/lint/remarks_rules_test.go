package lint

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestRangeOfRules: a range with less than two samples gets a note, measured by the shortest interval
// among the manifests.
func TestRangeOfRules(t *testing.T) {
	rule := func(expr string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: app}\nspec:\n  groups:\n  - name: a\n    rules:\n    - {record: 'a:b', expr: '" + expr + "'}\n"
	}
	fast := "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n  endpoints: [{port: a, interval: 10s}]\n"
	const minute = "  scrapeInterval: 1m\n"
	for title, tc := range map[string]struct{ owner, object, want string }{
		"shorter than the interval": {minute, rule("rate(a[30s])"), "spec.groups[0].rules[0].expr: rate needs two samples, and [30s] mostly holds one, because spec.scrapeInterval of the Prometheus is 1m; write [4m] or more"},
		"as long as the interval":   {minute, rule("sum(increase(a[1m]))"), "increase needs two samples, and [1m]"},
		"the default":               {"", rule("rate(a[45s])"), "because spec.scrapeInterval of the Prometheus is 30s; write [2m] or more"},
		"twice the interval":        {minute, rule("rate(a[2m])"), ""},
		"a monitor that is faster":  {minute, rule("rate(a[1m])") + fast, ""},
		"not fast enough":           {minute, rule("rate(a[15s])") + fast, "because the shortest interval of a monitor is 10s; write [40s] or more"},
		"other functions":           {minute, rule("max_over_time(a[1m])"), ""},
		"a recorded series":         {minute, rule("rate(a:b[1m])"), ""},
		"a subquery":                {minute, rule("rate(a[1m:1s])"), ""},
		"additional scrape configs": {minute + "  additionalScrapeConfigs: {name: a, key: b}\n", rule("rate(a[1m])") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: mon}\nstringData: {b: '[]'}\n", ""},
	} {
		t.Run(title, func(t *testing.T) {
			got := lines(t, selectsAll+tc.owner+tc.object)
			if !strings.Contains(got, tc.want) || strings.Contains(got, "two samples") != (tc.want != "") || tc.want != "" && !strings.Contains(got, "note: PrometheusRule app/web") {
				t.Errorf("want %q, got\n%s", tc.want, got)
			}
		})
	}
}

// TestQueriesWithoutResult: an operation between aggregations by different labels gets a remark.
func TestQueriesWithoutResult(t *testing.T) {
	for expr, want := range map[string]string{
		`sum by (pod) (a) / sum(b)`:                                    "/ has no result: samples of the first operand have the label pod only, those of the second no labels, and only samples with equal labels match; write / on () group_left ()",
		`sum(a) / (sum by (pod) (b) * 2) > 1`:                          "write / on () group_right ()",
		`sum by (pod, ns) (a) - max by (ns) (b)`:                       "write - on (ns) group_left ()",
		`sum by (pod) (a) / sum by (job) (b)`:                          "aggregate both by the same labels",
		`sum by (pod) (a) and sum by (job) (b)`:                        "",
		`sum by (pod) (a) or sum(b)`:                                   "",
		`sum by (pod) (a) unless sum(b)`:                               "",
		`sum by (pod) (a) / on () group_left () sum(b)`:                "",
		`sum by (pod) (a) / ignoring (pod) group_left () sum(b)`:       "",
		`sum by (pod) (a) / sum by (pod) (b)`:                          "",
		`sum by (pod) (a) / scalar(sum(b))`:                            "",
		`sum by (pod) (a) / b`:                                         "",
		`sum by (pod) (a) / sum without (pod) (b)`:                     "",
		`sum(a) * 100 / sum(b) > 5`:                                    "",
		`absent(a{job="x"}) * sum(b)`:                                  "",
		`sum by (pod) (a) / label_replace(sum(b), "pod", "x", "", "")`: "",
	} {
		var got []string
		r := &v1.PrometheusRule{}
		r.Spec.Groups = []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{{Record: "a:b", Expr: intstr.FromString(expr)}}}}
		say := func(field, format string, args ...any) { got = append(got, field+": "+fmt.Sprintf(format, args...)) }
		queryRemarks(say, say, say, queriesOf(r), 0, "")
		if text := strings.Join(got, "\n"); (text == "") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%s: want %q, got %q", expr, want, text)
		}
	}
}

// TestValueInLabels: a label of an alert that is its value gets a remark, one that depends on it does not.
func TestValueInLabels(t *testing.T) {
	for text, want := range map[string]int{
		"{{ $value }}":             1,
		"at {{$value | humanize}}": 1,
		"{{ .Value }}":             1,
		"{{ $labels.pod }}":        0,
		"{{ if gt $value 9.0 }}critical{{ else }}warning{{ end }}": 0,
	} {
		r := &v1.PrometheusRule{}
		r.Spec.Groups = []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{{Alert: "A", Expr: intstr.FromString("up"), Labels: map[string]string{"value": text}, Annotations: map[string]string{"value": text}}}}}
		got := 0
		valueRemarks(func(field, _ string, _ ...any) {
			got++
			if field != "spec.groups[0].rules[0].labels.value" {
				t.Errorf("field %s", field)
			}
		}, queriesOf(r))
		if got != want {
			t.Errorf("%s: %d remarks", text, got)
		}
	}
}
