package rules

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func objectOf(r v1.Rule) *v1.PrometheusRule {
	return object(v1.RuleGroup{Name: "g", Rules: []v1.Rule{r}})
}

// TestSyntaxGates: an expression form is rejected only for versions that do not support it, with a suggestion.
func TestSyntaxGates(t *testing.T) {
	for name, tc := range map[string]struct{ version, expr, want string }{
		"a duration as a number":          {"2.53.0", "idle_seconds > 100d", "a duration as a number needs >= 2.54.0; write the number of seconds"},
		"below other things":              {"2.46.0", "sum(rate(a[5m])) > (1 + 2h)", "a duration as a number needs"},
		"since then":                      {"2.54.0", "idle_seconds > 100d", ""},
		"a duration where one belongs":    {"2.46.0", "rate(a[5m] offset 1h) > 86400", ""},
		"underscores":                     {"2.53.0", "a > 1_000_000", "a number with underscores needs >= 2.54.0"},
		"underscores in a name":           {"2.46.0", "a_1_000 > 1", ""},
		"underscores since then":          {"2.54.0", "a > 1_000_000", ""},
		"a number as a range":             {"2.53.0", "rate(a[300]) > 1", "a number as a duration needs >= 2.54.0; write it with a unit, such as 300s"},
		"a number as a step":              {"2.53.0", "max_over_time(a[5m:60])", "a number as a duration needs"},
		"a number as an offset":           {"2.53.0", "a offset 90", "a number as a duration needs"},
		"a negative one":                  {"2.53.0", "a offset -1.5", "a number as a duration needs"},
		"a number as a time":              {"2.46.0", "rate(a[5m] offset -5m @ 90)", ""},
		"numbers beside durations":        {"2.46.0", "max_over_time(a[5m:1m] offset -5m) - 90 > -1 # [300]", ""},
		"a number as a range, since then": {"2.54.0", "rate(a[300] offset -1.5) > 1", ""},
		"a quoted metric":                 {"2.50.1", `{"a", b="c"}`, "a quoted name in a selector needs >= 2.51.0; write it without quotes"},
		"a quoted label of a selector":    {"2.50.1", `a{b="c", "d"!~"e"}`, "a quoted name in a selector needs"},
		"quotes of values":                {"2.46.0", `label_replace(a{b="{", c=~'"x"',}, "d", "{\"a\"}", "e", ",")`, ""},
		"quoted names, since then":        {"2.51.0", `{"a", "b"="c"}`, ""},
		"a quoted label of a group":       {"2.54.1", `sum by (a, "b") (c)`, "a quoted label in by, on or the like needs >= 2.55.0; write it without quotes"},
		"a quoted label of a match":       {"2.54.1", `a * on (b) group_left ("c") d`, "a quoted label in by, on or the like needs"},
		"a quoted parameter":              {"2.46.0", `count_values by (a) ("b", c) + on () (d)`, ""},
		"a label that needs quotes":       {"2.55.1", `sum by ("a.b") (c)`, "a label in by, on or the like that is no name without quotes needs >= 3.0.0"},
		"one of a match":                  {"2.55.1", `a + on ("b.c") d`, "no name without quotes needs >= 3.0.0"},
		"one of a group":                  {"2.55.1", `a + on (b) group_left ("c.d") d`, "no name without quotes needs >= 3.0.0"},
		"labels that need quotes, later":  {"3.0.0", `sum by ("a.b") (c + on ("d.e") f)`, ""},
		"a quoted label, since then":      {"2.55.0", `sum by ("a") (b)`, ""},
		"a trimmed histogram":             {"3.10.0", "a </ 5", "needs >= 3.11.0"},
		"a trimmed histogram, since then": {"3.11.0", "a </ 5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := PrometheusSettings(&v1.Prometheus{}, semver.MustParse(tc.version))
			f := Compile(objectOf(record("a:b", tc.expr)), s)
			switch {
			case tc.want == "" && f.Err != nil:
				t.Error(f.Err)
			case tc.want != "" && (f.Err == nil || !strings.Contains(f.Err.Error(), tc.want)):
				t.Errorf("err = %v, want %q", f.Err, tc.want)
			}
		})
	}
}

// TestOlderGo: an expression or a template that only newer versions of Go parse would have all rule files of an older server or
// ruler rejected, and with them the whole configuration.
func TestOlderGo(t *testing.T) {
	const elseWith = "{{ with $labels.a }}a{{- else with $labels.b }}b{{ end }}"
	alert := v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"summary": elseWith}}
	label := v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Labels: map[string]string{"team": elseWith}}
	for name, tc := range map[string]struct {
		rule               v1.Rule
		prometheus, thanos [2]string // the last version that does not parse it, and the first that does
		want               string
	}{
		"a named group":               {record("a:b", `sum(up{job=~"(?<n>a)"})`), [2]string{"2.52.1", "2.53.0"}, [2]string{"0.36.1", "0.37.0"}, `.expr: the regular expression "(?<n>a)": (?<name>…)`},
		"a named group, negated":      {record("a:b", `up{job!~"(?<n>a)"}`), [2]string{"2.52.1", "2.53.0"}, [2]string{"0.36.1", "0.37.0"}, `.expr: the regular expression`},
		"a newer category":            {record("a:b", "up{job=~`\\p{LC}`}"), [2]string{"3.6.0", "3.7.0"}, [2]string{"0.39.2", "0.40.0"}, `.expr: the regular expression`},
		"a new script":                {record("a:b", "up{job=~`\\p{Kawi}`}"), [2]string{"2.46.0", "2.47.0"}, [2]string{"0.32.5", "0.33.0"}, `.expr: the regular expression`},
		"else with, in an annotation": {alert, [2]string{"2.54.1", "2.55.0"}, [2]string{"0.36.1", "0.37.0"}, `.annotations["summary"]: {{ else with … }}`},
		"else with, in a label":       {label, [2]string{"2.54.1", "2.55.0"}, [2]string{"0.36.1", "0.37.0"}, `.labels["team"]: {{ else with … }}`},
	} {
		t.Run(name, func(t *testing.T) {
			o := objectOf(tc.rule)
			for i, s := range []Settings{
				PrometheusSettings(&v1.Prometheus{}, semver.MustParse(tc.prometheus[0])), PrometheusSettings(&v1.Prometheus{}, semver.MustParse(tc.prometheus[1])),
				ThanosRulerSettings(&v1.ThanosRuler{}, semver.MustParse(tc.thanos[0])), ThanosRulerSettings(&v1.ThanosRuler{}, semver.MustParse(tc.thanos[1])),
			} {
				err := Compile(o, s).Err
				switch {
				case i%2 == 1 && err != nil:
					t.Error(err)
				case i%2 == 0 && (err == nil || !strings.Contains(err.Error(), tc.want)):
					t.Errorf("%v: err = %v, want %q", s.program, err, tc.want)
				}
			}
			if err := Compile(o, Settings{}).Err; err != nil {
				t.Errorf("admission: %v", err)
			}
		})
	}
	older, newer := PrometheusSettings(&v1.Prometheus{}, semver.MustParse("2.54.1")), PrometheusSettings(&v1.Prometheus{}, semver.MustParse("2.55.0"))
	if newer.lacking = older.lacking; older.Key() == newer.Key() {
		t.Error("results for one of the versions would be used for the other")
	}
}

// TestMeant: all unknown names of a template are reported with a suggestion.
func TestMeant(t *testing.T) {
	for name, tc := range map[string]struct {
		expr, summary string
		want          []string
	}{
		"a function":                     {"ratee(a[5m])", "", []string{`unknown function with name "ratee", did you mean "rate"?`}},
		"a function of nobody":           {"xyzzy(a)", "", []string{`unknown function with name "xyzzy"`}},
		"a variable":                     {"up", "{{ $lables.instance }}", []string{`undefined variable "$lables", did you mean "$labels"?`}},
		"a variable and a function":      {"up", "{{ $lables.a }} {{ $value | humanise }}", []string{`did you mean "$labels"?`, `function "humanise" not defined, did you mean "humanize"?`}},
		"a variable in singular":         {"up", "{{ $label.instance }}", []string{`undefined variable "$label", did you mean "$labels"?`}},
		"a variable without $":           {"up", "{{ labels.pod }} {{ value }}", []string{`function "labels" not defined, did you mean "$labels"?`}},
		"one equals sign":                {"up = 0", "", []string{`unexpected "="; write == to compare`}},
		"a range that is missing":        {"rate(a)", "", []string{`got instant vector; add a range to the selector, such as [5m]`}},
		"a value without quotes":         {"up{job=web}", "", []string{`expected string; put the value of the label in quotes`}},
		"a number without quotes":        {"up{instance=10.0.0.1}", "", []string{`inside braces: '1'; put the value of the label in quotes`}},
		"two equals signs":               {`up{job=="a"}`, "", []string{`labels are compared with one =, as in job="a"`}},
		"a blank in a range":             {"rate(a[5 m])", "", []string{"write the duration without a blank, such as [5m]"}},
		"by before a parenthesis":        {"sum(rate(a[5m]) by (b)", "", []string{"close the parentheses before it, as in sum(rate(a[5m])) by (b)"}},
		"one backslash":                  {`up{a=~"10\.0"}`, "", []string{`in quotes a backslash is written twice, as in "a\\.b"`}},
		"and between matchers":           {`up{job="a" and pod="b"}`, "", []string{`in label matching, expected "," or "}"; separate matchers with commas`}},
		"matchers in parentheses":        {`rate(a(job="b")[5m])`, "", []string{`labels are compared in braces, as in a{job="a"}`}},
		"a colon in a matcher":           {`up{job:"a"}`, "", []string{`write = between a label and its value, as in job="a"`}},
		"in":                             {`up{code in ("500","503")}`, "", []string{`several values are a regular expression, as in code=~"500|503"`}},
		"a range before the matchers":    {`rate(a[5m]{job="b"})`, "", []string{"the range comes after the braces"}},
		"group by":                       {"sum(rate(a[5m])) group by (b)", "", []string{"write by without group, as in sum by (a) (b)"}},
		"one argument of topk":           {"topk(a)", "", []string{"it has two, as in topk(5, a)"}},
		"a comma in a number":            {"a > 0,05", "", []string{`unexpected ","; numbers have a point: write 0.05`}},
		"for in the block of expr":       {"up == 0\n  for: 10m\n", "", []string{"for: is a part of the expression, because its line is indented deeper than expr"}},
		"labels in the block of expr":    {"up == 0 labels:", "", []string{"labels: is a part of the expression"}},
		"by after a function":            {"avg_over_time(up[5m]) by (job)", "", []string{"by and without belong to aggregations"}},
		"a percent before another fault": {"cpu > 80% )", "", []string{"unexpected right parenthesis ')'"}},
		"percents":                       {"cpu > 80%", "", []string{"unexpected end of input; % is the remainder of a division, write the number alone"}},
		"offset of a result":             {"rate(a[5m]) offset 5m", "", []string{"write offset directly after the selector, as in rate(a[5m] offset 1h)"}},
		"group_left alone":               {"a * group_left (x) b", "", []string{"unexpected <group_left>; write on (…) or ignoring (…) before it"}},
		"quotes of a text editor":        {"up{job=“web”}", "", []string{"write straight quotes"}},
		"a no-break space":               {"up >\u00a00", "", []string{"type a blank instead"}},
		"a no-break space in braces":     {"up{job=\"a\",\u00a0pod=\"b\"}", "", []string{"type a blank instead"}},
		"a space of no width":            {"up\u200b > 0", "", []string{"this character is invisible"}},
		"a dash of a text editor":        {"a – b", "", []string{"type - instead"}},
		"a range without a function":     {"foo[5m] > 1", "", []string{"a range needs a function, such as rate(foo[5m])"}},
		"a range on the right":           {"1 < foo{a=\"b\"}[5m]", "", []string{"such as rate(foo{a=\"b\"}[5m])"}},
		"a subquery without a function":  {"foo{a=\"b\"}[5m:] > 1", "", []string{"such as max_over_time(foo{a=\"b\"}[5m:])"}},
		"a range with an offset":         {"foo[5m] offset 1h > 1", "", []string{"a range needs a function, such as rate(a[5m])"}},
		"the larger of two":              {"max(foo, bar) > 1", "", []string{"max aggregates the series of one argument; for two write foo > bar or bar"}},
		"the sum of two":                 {"sum(foo, bar) > 1", "", []string{"for two write foo + bar"}},
		"a template":                     {"up == {{ $value }}", "", []string{"expr is no template, so {{ $value }} is not replaced"}},
		"a selector of everything":       {`{job=~".*"}`, "", []string{`compare a label with something, as in job=~".+"`}},
		"absent over a range":            {"absent(up[5m])", "", []string{"leave out the range, or use absent_over_time"}},
		"a query of Loki":                {`sum(rate({app="web"} |= "error" [5m]))`, "", []string{"; this is LogQL, which Loki evaluates"}},
		"a range of Grafana":             {"rate(a[$__rate_interval])", "", []string{"are variables of Grafana; write a range such as [5m]"}},
		"rate of a sum":                  {"rate(sum(a)[5m])", "", []string{"ranges only allowed for vector selectors; apply the function to the selector"}},
		"an experimental operator":       {"limitk(5, up)", "", []string{"; set spec.enableFeatures: [promql-experimental-functions] of the workload"}},
		"an experimental function":       {"sort_by_label(up, 'job')", "", []string{`"sort_by_label" is not enabled; set spec.enableFeatures: [promql-experimental-functions] of the workload`}},
		"a function renamed":             {"holt_winters(a[5m], 0.5, 0.5)", "", []string{"its name is double_exponential_smoothing since 3.0.0, which needs spec.enableFeatures: [promql-experimental-functions]"}},
		"a function of Grafana":          {"up", "{{ $value | humanizeBytes }}", []string{`function "humanizeBytes" not defined: write humanize1024`}},
		"a function of Helm":             {"up", "{{ $value | trunc 5 }}", []string{`function "trunc" not defined: a function of Helm, which Prometheus does not have`}},
		"a label with a dash":            {"up", "{{ $labels.pod-name }}", []string{`bad character U+002D '-'; for a name with - write {{ index $labels "a-b" }}`}},
		"a label with a slash":           {"up", "{{ $labels.app.kubernetes.io/name }}", []string{"have _ instead of . and / in Prometheus: write {{ $labels.a_b }}"}},
		"a format without quotes":        {"up", "{{ $value | printf %.2f }}", []string{`put the format in quotes, as in printf "%.2f"`}},
		"a comparison of the value":      {"up", "{{ if $value >= 5 }}x{{ end }}", []string{`unexpected ">" in operand; comparisons are functions before their operands: write gt $value 5.0`}},
		"a comparison of a label":        {"up", `{{ if eq $labels.env == "prod" }}x{{ end }}`, []string{`unexpected "=" in operand; comparisons are functions before their operands: write eq $labels.a "b"`}},
		"a comparison with ==":           {"up", `{{ if $value == 5 }}x{{ end }}`, []string{`unexpected "=" in if; comparisons are functions`}},
		"lines after a comment, joined":  {"# nothing is up up == 0\n", "", []string{"no expression found in input; what follows # is a comment to the end of the line: > in YAML joins the lines, | keeps them"}},
		"a brace too few":                {"up", "{{ $labels.pod } is down", []string{"what {{ begins ends with }}"}},
		"a brace less":                   {"up", "{{$labels.pod}", []string{"what {{ begins ends with }}"}},
		"an if without end":              {"up", "{{ if $labels.pod }}x", []string{"unexpected EOF; what if, range or with begins ends with {{ end }}"}},
		"an end too many":                {"up", "{{ if $labels.pod }}x{{ end }}{{ end }}", []string{"there is an end too many"}},
		"a product in a template":        {"up", "{{ $value * 100 }}", []string{"templates do not calculate: do it in expr"}},
		"a quotient in a template":       {"up", "{{ $value / 1024 }}", []string{"templates do not calculate"}},
		"a difference in a template":     {"up", "{{ $value - 1 }}", []string{"templates do not calculate"}},
		"a duration without its unit":    {"time() - a > 1h30", "", []string{"a unit follows each number of a duration, as in 1h30m"}},
		"nothing after or":               {"up == 0 or", "", []string{"unexpected end of input; an operand is missing after or"}},
		"nothing after a comparison":     {"up{job=\"a\"} >= ", "", []string{"an operand is missing after >="}},
		"a variable of nobody":           {"up", "{{ $x }}", []string{`undefined variable "$x"`}},
		"a label in brackets":            {"up", `{{ $labels["pod"] }}`, []string{"bad character U+005B '['; write {{ $labels.a }}"}},
		"offset before the range":        {"rate(a offset 1h [5m])", "", []string{"write offset after the range, as in rate(a[5m] offset 1h)"}},
		"nothing before an operator":     {"a and on (b) > 0", "", []string{"unexpected <op:>>; an operand is missing before it"}},
		"operator turned around":         {"a => 1", "", []string{`unexpected "="; write >=`}},
		"aggregated without parentheses": {"sum by (b) rate(a[5m])", "", []string{"put what is aggregated in parentheses, as in sum by (b) (rate(a[5m]))"}},
		"a quantile last":                {"histogram_quantile(a_bucket, 0.9) > 1", "", []string{"the quantile comes first, as in histogram_quantile(0.9, a)"}},
		"a number last":                  {"topk(a, 5)", "", []string{"the number comes first, as in topk(5, a)"}},
		"four of five arguments":         {`label_replace(a, "b", "$1", "c")`, "", []string{`write label_replace(a, "to", "$1", "from", "(.*)")`}},
		"a prediction for no time":       {"predict_linear(a[1h]) < 0", "", []string{"the second one is how many seconds ahead"}},
		"a name with dots":               {"http.server.duration > 1", "", []string{`a name with dots is written in quotes, as in {"a.b"}`}},
		"not equal of SQL":               {"up <> 1", "", []string{"unexpected <op:>>; write != for not equal"}},
		"a brace":                        {"up", "{{ $value ", []string{"unclosed action"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := alert("A", tc.expr)
			if tc.summary != "" {
				r.Annotations = map[string]string{"summary": tc.summary}
			}
			f := Compile(objectOf(r), PrometheusSettings(&v1.Prometheus{}, semver.MustParse("3.13.2")))
			for _, want := range tc.want {
				if f.Err == nil || !strings.Contains(f.Err.Error(), want) {
					t.Errorf("err = %v, want %q", f.Err, want)
				}
			}
		})
	}
}

// TestReplacedMatchers: a matcher that the enforced label overrides is reported, because the
// meaning of the rule changes.
func TestReplacedMatchers(t *testing.T) {
	for expr, want := range map[string]int{
		`absent(up{namespace="kube-system"})`:     1,
		`up{namespace="NS"} and up`:               0,
		`up{namespace=~".+"}`:                     0,
		`a{namespace!="x"} / b{namespace=~"p|q"}`: 1,
		`up`: 0,
	} {
		o := objectOf(record("a:b", ""))
		o.Spec.Groups[0].Rules[0].Expr = intstr.FromString(strings.ReplaceAll(expr, "NS", o.Namespace))
		p := &v1.Prometheus{}
		p.Spec.EnforcedNamespaceLabel = "namespace"
		f := Compile(o, PrometheusSettings(p, semver.MustParse("3.13.2")))
		if f.Err != nil || len(f.Remarks) != want {
			t.Errorf("%s: %q, %v", expr, f.Remarks, f.Err)
		}
	}
}
