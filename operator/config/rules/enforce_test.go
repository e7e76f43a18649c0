package rules

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

var everyOption = parser.Options{
	EnableExperimentalFunctions: true, ExperimentalDurationExpr: true,
	EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true,
}

func enforced(expr, label string) (string, error) {
	r := rule{Expr: expr}
	_, err := r.parse(parser.NewParser(everyOption), labels.MustNewMatcher(labels.MatchEqual, label, "bar"), &Settings{}, new(effort))
	return r.exprText(), err
}

func TestEnforceExpression(t *testing.T) {
	for in, want := range map[string]string{
		`rate(http_requests_total[5m])`:                   `rate(http_requests_total{namespace="bar"}[5m])`,
		`m{namespace="dummy",mode="idle"}`:                `m{mode="idle",namespace="bar"}`,
		`m{namespace!="a",namespace=~"b.*"}`:              `m{namespace="bar"}`,
		`{namespace="a"}`:                                 `{namespace="bar"}`,
		`{__name__="m"}`:                                  `{__name__="m",namespace="bar"}`,
		`{"a.b", "c.d"="e"}`:                              `{"c.d"="e",__name__="a.b",namespace="bar"}`,
		`-(a - -b)`:                                       `-(a{namespace="bar"} - -b{namespace="bar"})`,
		`a and on (x) b unless ignoring (y) c`:            `a{namespace="bar"} and on (x) b{namespace="bar"} unless ignoring (y) c{namespace="bar"}`,
		`topk(scalar(n), m)`:                              `topk(scalar(n{namespace="bar"}), m{namespace="bar"})`,
		`count_values("namespace", m)`:                    `count_values("namespace", m{namespace="bar"})`,
		`max_over_time(rate(m[5m])[1h:1m] offset 1d)`:     `max_over_time(rate(m{namespace="bar"}[5m])[1h:1m] offset 1d)`,
		`m @ 1700000000 offset -5m`:                       `m{namespace="bar"} @ 1700000000.000 offset -5m`,
		`label_replace(m, "namespace", "x", "a", "(.*)")`: `label_replace(m{namespace="bar"}, "namespace", "x", "a", "(.*)")`,
		`info(m, {namespace="x", k="v"})`:                 `info(m{namespace="bar"}, {k="v",namespace="bar"})`,
		`absent(m)`:                                       `absent(m{namespace="bar"})`,
		`vector(1)`:                                       `vector(1)`,
		`"text"`:                                          `"text"`,
		`1e3 ^ 0x10`:                                      `1000 ^ 16`,
	} {
		t.Run(in, func(t *testing.T) {
			got, err := enforced(in, "namespace")
			if err != nil || got != want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, want)
			}
		})
	}
}

// A function that selects series by itself, in any namespace, is rejected.
func TestInfoOfOtherNamespaces(t *testing.T) {
	for _, expr := range []string{`info(m)`, `sum(rate(info(m)[5m:])) / 2`} {
		if got, err := enforced(expr, "namespace"); !errors.Is(err, errInfo) {
			t.Errorf("%s: %s, %v", expr, got, err)
		}
	}
}

// The comparison below detects relevant differences and ignores others.
func TestSameMeaning(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{`m{a="b",c="d"}`, `m { c="d" , a="b" }`, true},
		{`m{a="b"}`, `m{a=~"b"}`, false},
		{`sum by (a) (m)`, `sum without (a) (m)`, false},
		{`m offset 5m`, `m offset 6m`, false},
		{`a + on () b`, `a + b`, false},
		{`-(a ^ b)`, `-a ^ b`, false},
	} {
		if got := cmp.Equal(meant(t, tc.a, "x"), meant(t, tc.b, "x"), sameMeaning...); got != tc.same {
			t.Errorf("%s and %s: same = %t", tc.a, tc.b, got)
		}
	}
}

// TestEnforceRandomExpressions checks the same properties for random expressions, most of
// which are PromQL.
func TestEnforceRandomExpressions(t *testing.T) {
	const tries = 8000
	valid := 0
	for seed := range uint64(tries) {
		in := promql{rand.New(rand.NewPCG(seed, 4))}.expr(3)
		if checkEnforced(t, in, pick(promql{rand.New(rand.NewPCG(seed, 5))}.Rand, []string{"namespace", "job", "k8s.ns"})) {
			valid++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if valid < tries/4 {
		t.Errorf("only %d of %d were PromQL", valid, tries)
	}
	t.Logf("%d of %d were PromQL", valid, tries)
}

// FuzzEnforce: the printed expression is PromQL, all its selectors select exactly the
// namespace, and enforcing again does not change it.
func FuzzEnforce(f *testing.F) {
	for _, seed := range []string{
		`sum by (namespace) (rate({__name__=~"http_.*", namespace!~"a|b"}[5m] offset 1h)) / on (a) group_left (b) c > bool -1`,
		`max_over_time(quantile(scalar(q), up{namespace=~".*"})[1h:5m] @ end())`, `m @ start() offset -1h30m`,
		`rate(m[5m*2] smoothed) + fill(0) n anchored`, `rate(m[step()+max_of(1m,2m)] offset -(1m))`, `info(m, {a="b"})`,
		`{"a.b","c d"=~"e"}`, `m{a='b',"namespace"="x"}`, `+Inf - -NaN ^ -0x1p-2`, `count_values without (a) ("b", c)`,
		`limitk(2, m)`, `a atan2 b or c % d`, `histogram_quantile(0.9, m{le!=""}[5m:])`, `(((m)))`, "m{a=`b\\c`}",
		`m @ -1.5`, `-1 ^ 2`, `1h - 5m`, `m > +1`, `a == on () group_right () b`, `m[1h]`, `"\u00e9\xff"`,
		`a trim_upper b`, `sort_by_label(m, "a")`, `m offset 1m @ 5`,
	} {
		f.Add(seed, "namespace")
	}
	f.Add(`m{"k8s.ns"="x"}`, "k8s.ns")
	f.Fuzz(func(t *testing.T, in, label string) {
		if len(in) > 2000 || label == "" || label == "__name__" || !settingsUTF8.scheme().IsValidLabelName(label) {
			t.Skip("not a question")
		}
		if !checkEnforced(t, in, label) {
			t.Skip("not PromQL")
		}
	})
}

// checkEnforced reports whether in is PromQL, and checks the three properties if so.
func checkEnforced(t *testing.T, in, label string) bool {
	t.Helper()
	once, err := enforced(in, label)
	if err != nil {
		return false
	}
	expr, err := parser.NewParser(everyOption).ParseExpr(once)
	if err != nil {
		t.Fatalf("%q became %q: %v", in, once, err)
	}
	for _, selector := range parser.ExtractSelectors(expr) {
		on := 0
		for _, m := range selector {
			if m.Name == label {
				on++
				if m.Type != labels.MatchEqual || m.Value != "bar" {
					t.Errorf("%q became %q: matcher %s", in, once, m)
				}
			}
		}
		if on != 1 {
			t.Errorf("%q became %q: %d matchers on %s", in, once, on, label)
		}
	}
	// Prometheus prints infinity as +Inf and parses that as a sign and a number: -Inf ^ 2
	// gets another plus each time. The meaning is the same.
	if twice, err := enforced(once, label); err != nil || twice != once && !strings.Contains(once, "+Inf") {
		t.Errorf("%q became %q, then %q (%v)", in, once, twice, err)
	}
	if d := cmp.Diff(meant(t, in, label), expr, sameMeaning...); d != "" && !strings.Contains(once, "+Inf") {
		t.Errorf("%q became %q, which means something else:\n%s", in, once, d)
	}
	return true
}

// meant returns the expression tree with the matchers, without printing it.
func meant(t *testing.T, in, label string) parser.Expr {
	t.Helper()
	expr, err := parser.NewParser(everyOption).ParseExpr(in)
	if err != nil {
		t.Fatal(err)
	}
	enforce(expr, labels.MustNewMatcher(labels.MatchEqual, label, "bar"), new([]string))
	return expr
}

// sameMeaning compares trees without text positions.
var sameMeaning = cmp.Options{
	cmpopts.IgnoreTypes(posrange.PositionRange{}, posrange.Pos(0)),
	cmpopts.EquateEmpty(),
	cmpopts.EquateNaNs(),
	cmp.Transformer("matchers", func(ms []*labels.Matcher) []string {
		var out []string
		for _, m := range ms {
			out = append(out, m.String())
		}
		slices.Sort(out)
		return out
	}),
}

var settingsUTF8 = Settings{UTF8Names: true, PromQL: everyOption}

// FuzzCompileAgreesWithPrometheus: an object is accepted if and only if Prometheus'
// parser accepts its file.
func FuzzCompileAgreesWithPrometheus(f *testing.F) {
	f.Add("a", "", "up", "", "", "team", "x", "", "", false)
	f.Add("", "A", "up == 0", "5m", "1m", "severity", "{{ $value }}", "summary", "{{ $labels.job | title }}", true)
	f.Add("", "A", "up", "0", "0s", "__name__", "{{", "a.b", "{{ range query `up` }}{{ .Value | humanize }}{{ end }}", true)
	f.Add("a.b", "", "sum(up", "", "", "x", "{{ tmpl }}", "", "", true)
	f.Add("a{}", "B", "", "1y2w3d4h5m6s7ms", "1h1h", "", "", "y", "{{ define \"t\" }}{{ end }}{{ template \"t\" }}", false)
	f.Add("", "A", "1", "", "", "b", "{{ html 1 }}{{ break }}", "c", "{{/* x */}}{{- $externalURL -}}{{ $x := 1 }}", false)
	f.Fuzz(func(t *testing.T, recordName, alertName, expr, wait, keep, label, value, annotation, text string, utf8Names bool) {
		r := v1.Rule{Record: recordName, Alert: alertName, For: v1.Duration(wait), KeepFiringFor: v1.NonEmptyDuration(keep)}
		r.Expr.Type, r.Expr.StrVal = 1, expr
		r.Labels = map[string]string{label: value}
		if annotation != "" {
			r.Annotations = map[string]string{annotation: text}
		}
		for _, in := range []string{recordName, alertName, expr, wait, keep, label, value, annotation, text} {
			if strings.ToValidUTF8(in, "") != in || label == "<<" || annotation == "<<" || len(in) > 1000 {
				t.Skip("the API server lets no such object in, or YAML cannot say it")
			}
		}
		s := Settings{UTF8Names: utf8Names}
		got := Compile(object(of(r)), s)
		doc, _ := ruleFileOf(&object(of(r)).Spec, s)
		file, err := doc.render()
		if err != nil {
			t.Fatal(err)
		}
		if errs := readByPrometheus(file, s); (len(errs) == 0) != (got.Err == nil) {
			t.Errorf("here: %v\nPrometheus: %v\n%s", got.Err, errs, file)
		}
	})
}
