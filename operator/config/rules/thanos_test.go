package rules

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func thanosSettings(version string) Settings {
	return ThanosRulerSettings(&v1.ThanosRuler{}, semver.MustParse(version))
}

// TestThanosAcceptsRuleFiles: thanos accepts the rule files.
func TestThanosAcceptsRuleFiles(t *testing.T) {
	tool := program(t, "thanos")
	accepts := func(t *testing.T, objects []*v1.PrometheusRule) {
		s := thanosSettings("0.42.1")
		for _, label := range []string{"", "namespace"} {
			s.EnforcedLabel = label
			for _, r := range objects {
				f := Compile(r, s)
				if f.Err != nil {
					t.Errorf("%s: %v", r.Name, f.Err)
				} else if out, ok := thanosReads(t, tool, f.Content); !ok {
					t.Errorf("%s with %q enforced:\n%s", r.Name, label, out)
				}
			}
		}
	}
	t.Run("every key", func(t *testing.T) {
		accepts(t, []*v1.PrometheusRule{typical(50), object(), object(
			v1.RuleGroup{Name: "a", PartialResponseStrategy: "abort"},
			v1.RuleGroup{Name: "b", PartialResponseStrategy: "Warn", Limit: new(3), QueryOffset: "1m", Labels: map[string]string{"team.name": "web"}, Rules: []v1.Rule{
				with(alert("A", `{"a.b", "c.d"="e"}`), func(r *v1.Rule) { r.KeepFiringFor = "1h" }), record("b.c", "1"),
			}},
		)})
	})
	t.Run("real rules", func(t *testing.T) { accepts(t, realRules(t)) })
}

// TestThanosRefusesToo: what is rejected for a ruler, thanos rejects, too. (When loading
// the files, it additionally rejects duplicate group names and invalid group labels, like
// Prometheus' parser.)
func TestThanosRefusesToo(t *testing.T) {
	tool := program(t, "thanos")
	s := thanosSettings("0.42.1")
	for name, r := range map[string]*v1.PrometheusRule{
		"unknown strategy":      object(v1.RuleGroup{Name: "g", PartialResponseStrategy: "ignore"}),
		"strategy with a blank": object(v1.RuleGroup{Name: "g", PartialResponseStrategy: " warn"}),
		"group without a name":  object(v1.RuleGroup{Rules: []v1.Rule{record("a", "up")}}),
		"interval of no unit":   object(v1.RuleGroup{Name: "g", Interval: "30"}),
		"broken expression":     object(of(record("a", "sum(up"))),
		"no expression":         object(of(v1.Rule{Record: "a", Expr: intstr.FromString("")})),
		"experimental function": object(of(record("a", "mad_over_time(up[5m])"))),
		"duration expression":   object(of(record("a", "rate(up[5m*2])"))),
		"record and alert":      object(of(v1.Rule{Record: "a", Alert: "B", Expr: intstr.FromString("up")})),
		"record with for":       object(of(with(record("a", "up"), func(r *v1.Rule) { r.For = "1m" }))),
		"label __name__":        object(of(with(record("a", "up"), func(r *v1.Rule) { r.Labels = map[string]string{"__name__": "x"} }))),
		"broken template":       object(of(with(alert("A", "up"), func(r *v1.Rule) { r.Annotations = map[string]string{"x": "{{ $value"} }))),
		"unknown function":      object(of(with(alert("A", "up"), func(r *v1.Rule) { r.Annotations = map[string]string{"x": "{{ human .Value }}"} }))),
	} {
		if Compile(r, s).Err == nil {
			t.Errorf("%s: accepted", name)
		}
		doc, _ := ruleFileOf(&r.Spec, s)
		content, err := doc.render()
		if err != nil {
			t.Fatal(err)
		}
		if out, ok := thanosReads(t, tool, content); ok {
			t.Errorf("%s: Thanos reads it:\n%s\n%s", name, content, out)
		}
	}
}

// thanosReads reports whether thanos accepts a rule file.
func thanosReads(t *testing.T, tool, content string) (out []byte, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "tools", "rules-check", "--rules="+file).CombinedOutput()
	if ok = err == nil; ok != bytes.Contains(out, []byte("SUCCESS")) {
		t.Fatalf("%v, and\n%s", err, out)
	}
	return out, ok
}
