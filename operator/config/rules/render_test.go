package rules

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// awkward lists texts that YAML encoders treat specially: values that look like other types,
// indicators, folding beyond 80 columns, multiple lines, leading and trailing whitespace.
var awkward = []string{
	"", "a", "yes", "no", "on", "y", "null", "~", "true", "1", "0x1f", "0o17", "1e3", "1_000", ".5", "-", "?", ":", "a: b", "a #b", "#",
	"- a", "? a", "[a]", "{a}", "a,b", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a`", "'", `"`, "'a' \"b\"", "a'b", `\`, `\n`, "<<", "=",
	"2024-01-01", "12:30:45", "1.2.3", " a", "a ", "\ta", "a\tb", "a\n", "\na", "a\nb", "a\nb\n", "a\n\nb\n\n", "  a\n b\n", "a \nb", "é", "日本",
	"😀", "\u00a0", "\u2028", "--- a", "...", "---", "a\r\nb",
	strings.Repeat("word ", 40), strings.Repeat("word ", 20) + "\n" + strings.Repeat("w ", 60), strings.Repeat("x", 200),
	"'" + strings.Repeat("q ", 70), strings.Repeat("é ", 90), "{{ $labels.job }}: " + strings.Repeat("down ", 30),
	"sum by (job) (\n  rate(x[5m])\n)\n/ 2", "# comment\nup",
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func randomText(r *rand.Rand) string {
	out := pick(r, awkward)
	for r.IntN(3) == 0 {
		out += pick(r, []string{" ", "\n", ""}) + pick(r, awkward)
	}
	return out
}

func randomMap(r *rand.Rand) map[string]string {
	var out map[string]string
	for range r.IntN(4) {
		if out == nil {
			out = map[string]string{}
		}
		// "<<" is a merge key when encoding via JSON, which then fails.
		key := pick(r, []string{"a", "a1", "a2", "a10", "A", "_b", "Z9", "severity", "b.c", "é", "yes", "1", "x y", "a-b", "a_b", "a:b"})
		out[key] = randomText(r)
	}
	return out
}

func randomSpec(r *rand.Rand) *v1.PrometheusRuleSpec {
	spec := &v1.PrometheusRuleSpec{}
	for range r.IntN(3) {
		g := v1.RuleGroup{
			Name: randomText(r), Interval: v1.Duration(pick(r, []string{"", "30s", "0"})), Labels: randomMap(r),
			QueryOffset: v1.Duration(pick(r, []string{"", "1m"})), PartialResponseStrategy: pick(r, []string{"", "warn"}),
		}
		if r.IntN(2) == 0 {
			g.Limit = new(r.IntN(3))
		}
		for range r.IntN(4) {
			rule := v1.Rule{Expr: intstr.FromString(randomText(r)), Labels: randomMap(r), Annotations: randomMap(r)}
			if r.IntN(5) == 0 {
				rule.Expr = intstr.FromInt32(r.Int32N(100) - 50)
			}
			if r.IntN(2) == 0 {
				rule.Alert = randomText(r)
				rule.For, rule.KeepFiringFor = v1.Duration(pick(r, []string{"", "5m"})), v1.NonEmptyDuration(pick(r, []string{"", "5m"}))
			} else {
				rule.Record = randomText(r)
			}
			g.Rules = append(g.Rules, rule)
		}
		spec.Groups = append(spec.Groups, g)
	}
	return spec
}

// The reference renders with sigs.k8s.io/yaml. Equal bytes mean that its ConfigMaps can
// be taken over without writing any.
func TestRenderEqualsTheDetourOverJSON(t *testing.T) {
	for seed := range uint64(3000) {
		spec := randomSpec(rand.New(rand.NewPCG(seed, 2)))
		want, err := yaml.Marshal(spec)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		doc, dropped := ruleFileOf(spec, Settings{Thanos: true})
		got, err := doc.render()
		if err != nil || len(dropped) > 0 {
			t.Fatalf("seed %d: %v, dropped %v", seed, err, dropped)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, d)
		}
	}
}

// Prometheus reads the same rules as the object has.
func TestRenderIsReadBackUnchanged(t *testing.T) {
	s := Settings{UTF8Names: true}
	accepted := 0
	for seed := range uint64(3000) {
		spec := randomSpec(rand.New(rand.NewPCG(seed, 3)))
		makeValid(spec)
		f := Compile(object(spec.Groups...), s)
		if f.Err != nil {
			continue
		}
		accepted++
		groups, errs := parseByPrometheus(f.Content, s)
		if len(errs) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, errs, f.Content)
		}
		for i, g := range groups.Groups {
			in := spec.Groups[i]
			equal(t, seed, "name", in.Name, g.Name)
			equal(t, seed, "labels", in.Labels, g.Labels)
			for j, r := range g.Rules {
				equal(t, seed, "expr", in.Rules[j].Expr.String(), r.Expr)
				equal(t, seed, "labels", in.Rules[j].Labels, r.Labels)
				equal(t, seed, "annotations", in.Rules[j].Annotations, r.Annotations)
				equal(t, seed, "alert", in.Rules[j].Alert, r.Alert)
				equal(t, seed, "record", in.Rules[j].Record, r.Record)
			}
		}
	}
	if accepted < 500 {
		t.Errorf("only %d of the specs were valid", accepted)
	}
}

// makeValid fixes errors that would reject most of the random specs.
func makeValid(spec *v1.PrometheusRuleSpec) {
	for i := range spec.Groups {
		g := &spec.Groups[i]
		g.Name += string(rune('a' + i))
		for j := range g.Rules {
			r := &g.Rules[j]
			if r.Expr.Type == intstr.String {
				r.Expr.StrVal = strings.ReplaceAll("up # "+r.Expr.StrVal, "\n", "\n# ") + "\n"
			}
			if r.Record != "" || r.Alert == "" {
				r.Annotations, r.Record = nil, strings.NewReplacer("{", "(", "}", ")").Replace(r.Record)+"r"
			}
			for k, v := range r.Labels {
				r.Labels[k] = strings.ReplaceAll(v, "{{", "(")
			}
		}
	}
}

func equal[T any](t *testing.T, seed uint64, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("seed %d: %s (-want +got):\n%s", seed, what, d)
	}
}
