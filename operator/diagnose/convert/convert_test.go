package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(_ *testing.T, c golden.Case, _ string) ([]byte, error) {
		var out bytes.Buffer
		for _, file := range c.Inputs() {
			text, _ := c.Input(file)
			made := Rules(file, text, Options{Namespace: "demo", Labels: map[string]string{"release": "x"}})
			for _, m := range made {
				fmt.Fprintf(&out, "# %s: %v\n%s", m.Source, m.Err, m.YAML)
			}
			if len(made) == 0 {
				fmt.Fprintf(&out, "# %s: nothing\n", file)
			}
		}
		return out.Bytes(), nil
	})
}

// A document of any size is neither parsed nor a reason to fail for the others before it.
func TestLargeDocument(t *testing.T) {
	small := "groups: [{name: a, rules: [{record: 'a:b', expr: '1'}]}]\n---\n"
	long := "groups:\n- name: a\n  rules:\n" + strings.Repeat("  - {record: 'a:b', expr: '1'}\n", maxDocument/30)
	allocated := testing.AllocsPerRun(1, func() {
		made := Rules("rules.yml", []byte(small+long), Options{})
		if len(made) != 2 || made[0].Err != nil || made[1].Err == nil || !strings.Contains(made[1].Err.Error(), "divide it") {
			t.Errorf("%d: %v", len(made), made[len(made)-1].Err)
		}
	})
	if allocated > 1_000_000 {
		t.Errorf("%.0f allocations", allocated)
	}
}

// TestSameRules: the rules of kube-prometheus, written as rule files, become the same objects.
func TestSameRules(t *testing.T) {
	files, _ := filepath.Glob("../../../../shared/real/kube-prometheus/*prometheusRule.yaml")
	if len(files) == 0 {
		t.Skip("no manifests of kube-prometheus here")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want, got v1.PrometheusRule
		if err := manifest.Decode(text, &want); err != nil {
			t.Fatal(file, err)
		}
		spec, err := yaml.Marshal(want.Spec)
		if err != nil {
			t.Fatal(err)
		}
		made := Rules("rules.yml", spec, Options{})
		if len(made) != 1 || made[0].Err != nil {
			t.Fatalf("%s: %v", file, made)
		}
		if err := manifest.Decode(made[0].YAML, &got); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, made[0].YAML)
		}
		if rulesOf(got.Spec) != rulesOf(want.Spec) {
			t.Errorf("%s:\n got  %s\n want %s", file, rulesOf(got.Spec), rulesOf(want.Spec))
		}
	}
}

// rulesOf returns rules as YAML, in which an expression that is a number equals the same string.
func rulesOf(s v1.PrometheusRuleSpec) string {
	for _, g := range s.Groups {
		for i := range g.Rules {
			g.Rules[i].Expr = intstr.FromString(g.Rules[i].Expr.String())
		}
	}
	out, _ := yaml.Marshal(s)
	return string(out)
}

// FuzzRules: any text gives objects that the API accepts, or errors.
func FuzzRules(f *testing.F) {
	for _, text := range []string{
		"groups: [{name: a, rules: [{record: 'a:b', expr: 1, labels: {on: off}}]}]",
		"kind: ConfigMap\nmetadata: {name: a}\ndata: {a.yml: \"groups: []\"}",
		"kind: List\nitems: [{kind: ConfigMap, data: {a: 'groups: [{}]'}}, &a {}, *a]",
		"groups: &a [{name: *a}]",
		"groups: !!binary aGk=\n---\ngroups: {<<: {a: b}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range Rules("rules.yml", text, Options{}) {
			if (m.Err == nil) == (m.YAML == nil) {
				t.Fatalf("%v\n%s", m.Err, m.YAML)
			}
		}
	})
}
