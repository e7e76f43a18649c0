package rules

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/prometheus/promql/parser"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// everyFunction returns the functions that the library supports, of PromQL or of templates.
func everyFunction(template bool) []string {
	if template {
		return slices.Sorted(maps.Keys(templateFunctions()))
	}
	aggregations := []string{"sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk", "count_values", "quantile", "limitk", "limit_ratio"}
	return append(slices.Sorted(maps.Keys(parser.Functions)), aggregations...)
}

func TestFunctionGatesNameFunctions(t *testing.T) {
	if n := len(functionGates); n > 32 {
		t.Errorf("%d rows do not fit into a functionSet", n)
	}
	seen := map[string]bool{}
	for _, f := range functionGates {
		if !slices.Contains(everyFunction(f.template), f.name) || seen[f.name] {
			t.Errorf("%s is no function of the library, or there twice", f.name)
		}
		seen[f.name] = true
		for thanos, v := range map[bool]*semver.Version{false: f.prometheus, true: f.thanos} {
			below := semver.New(v.Major(), v.Minor(), v.Patch(), "rc.9", "")
			names := func(v *semver.Version) (out []string) {
				for g := range lackingIn(v, thanos).each {
					out = append(out, g.name)
				}
				return out
			}
			if gone := f.renamed != ""; slices.Contains(names(v), f.name) != gone || slices.Contains(names(below), f.name) == gone {
				t.Errorf("%s does not change exactly at %s", f.name, v)
			}
		}
	}
}

// TestProgramsKnowTheFunctions: the table agrees with each available program on the functions that it does
// not support.
func TestProgramsKnowTheFunctions(t *testing.T) {
	for _, name := range []string{"promtool-2.53", "promtool-2.55", "promtool-3.5", "promtool", "thanos"} {
		t.Run(name, func(t *testing.T) {
			tool := program(t, name)
			thanos := name == "thanos"
			version := versionOf(t, tool)
			lacking := map[string]bool{}
			for f := range lackingIn(version, thanos).each {
				lacking[fmt.Sprint(f.template, f.name)] = true
			}
			out := result(t, tool, thanos)
			for _, template := range []bool{false, true} {
				for _, f := range everyFunction(template) {
					// Older parsers report forms that they parse differently as "unexpected" or "unknown node type".
					refusal := fmt.Sprintf(`"r_%s": could not parse expression: [0-9:]+ parse error: (unknown|unexpected "\()`, f)
					if template {
						refusal = fmt.Sprintf(`function "%s" not defined`, f)
					}
					if got, want := regexp.MustCompile(refusal).MatchString(out), lacking[fmt.Sprint(template, f)]; got != want {
						t.Errorf("%s %s: %s (template: %t) is unknown: %t, the table says %t", name, version, f, template, got, want)
					}
				}
			}
			if !strings.Contains(out, `unknown function with name "nope"`) || !strings.Contains(out, `function "nope" not defined`) {
				t.Errorf("the program says nothing about functions that nobody knows:\n%s", out)
			}
		})
	}
}

// result returns the program's output for rules with all functions, and two that do not exist.
func result(t *testing.T, tool string, thanos bool) string {
	t.Helper()
	g := v1.RuleGroup{Name: "g"}
	for _, f := range append(everyFunction(false), "nope") {
		g.Rules = append(g.Rules, record("r_"+f, f+"()"))
	}
	for _, f := range append(everyFunction(true), "nope") {
		g.Rules = append(g.Rules, with(alert("A", "up"), func(r *v1.Rule) { r.Annotations = map[string]string{"a": "{{ " + f + " }}"} }))
	}
	doc, _ := ruleFileOf(&v1.PrometheusRuleSpec{Groups: []v1.RuleGroup{g}}, Settings{})
	content, err := doc.render()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"check", "rules", file}
	if thanos {
		args = []string{"tools", "rules-check", "--rules=" + file}
	}
	out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
	if err == nil {
		t.Fatalf("accepted:\n%s", out)
	}
	return strings.ReplaceAll(string(out), `\"`, `"`)
}

func versionOf(t *testing.T, tool string) *semver.Version {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tool, "--version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return semver.MustParse(regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(string(out)))
}
