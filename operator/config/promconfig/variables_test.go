package promconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// Only provided variables are substituted, and only in values; the text is the same for who reads it as YAML.
func TestLiteralVariables(t *testing.T) {
	for jobs, want := range map[string]string{ // want: names of references that config-reloader finds
		"- {regex: $(SHARD), replacement: $(POD_NAME)-$1}\n":                 "SHARD POD_NAME",
		"- a: $(PATH)\n  b: $(SHARD)\n":                                      "SHARD",
		"- a: $(SHARD)$(PATH)\n":                                             "",
		"- a: $$(A) $($(A)) $(A\n":                                           "",
		"- a: http://$(SHARD):80\n":                                          "SHARD",
		"- $(SHARD): $(SHARD)\n  0: b\n":                                     "SHARD",
		"- \"$(SHARD): a\": b\n":                                             "",
		"- a: |\n    $(A): b\n     VARIABLE(\n  b: '\\x24(A)'\n":             "",
		"- a: \"\\0\\a$(A)\\\\\\n\"\n  b: VARIABLE\n  c: [1, 0x1, yes, ~]\n": "",
		"- a: $(A)\n  b: " + strings.Repeat("long ", 100) + "\n":             "",
		"- a: $1 ${1} $(A-B)\n":                                              "",
	} {
		got, err := literalVariables([]byte(jobs))
		if err != nil {
			t.Fatalf("%q: %v", jobs, err)
		}
		var names []string
		for start, end := range variables.All(got) {
			names = append(names, string(variables.Name(got[start:end])))
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%q: references to %q are left, want %q:\n%s", jobs, names, want, got)
		}
		var before, after any
		if err := yaml.Unmarshal([]byte(jobs), &before); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(got, &after); err != nil || !cmp.Equal(before, after) {
			t.Errorf("%q: becomes %q, error %v", jobs, got, err)
		}
	}
}

// Values of variables may not make a regular expression invalid, and others are substituted.
func TestVariablesInExpressions(t *testing.T) {
	for text, literal := range map[string]bool{
		"$(SHARD)":         false,
		"$(SHARD);|.+;.+":  false,
		"[^/]+;$(SHARD)":   false,
		"a{2};$(SHARD)":    false,
		"${1}-$(POD_NAME)": false,
		`\d+;$(SHARD)`:     false,
		"[a;$(SHARD)":      false, // not a regular expression
		"$(PATH)":          true,
		"a{10$(SHARD)1}":   true,
		"a{50,$(SHARD)9}":  true,
		"a{$(SHARD),15}":   true,
		"[]$(SHARD)-/]":    true,
		"[$(SHARD)-5]":     true,
		"[$(POD_NAME)]":    true,
		`\$(SHARD)`:        true,
		"[a]$(SHARD)" + strings.Repeat("x", maxSampledLength): true,
	} {
		c := variableCheck{}
		if got := c.literal(text); got != literal {
			t.Errorf("%q: literal is %v", text, got)
		}
		if c.sampled = maxSampled; strings.ContainsAny(text, `[{\`) && !c.literal(text) {
			t.Errorf("%q: is checked beyond the limit", text)
		}
	}
}

// The value of a variable would make these configurations invalid, for all objects.
func TestVariablesOfObjects(t *testing.T) {
	for _, object := range []string{
		`ScrapeConfig {"spec":{"httpSDConfigs":[{"url":"http://$(PATH)"}]}}`,
		`ScrapeConfig {"spec":{"staticConfigs":[{"targets":["$(KUBERNETES_PORT)"]}]}}`,
		`ServiceMonitor {"spec":{"selector":{},"endpoints":[{"port":"w","proxyUrl":"http://$(PATH)"}]}}`,
		`PodMonitor {"spec":{"selector":{},"podMetricsEndpoints":[{"port":"w","params":{"$(PATH)":["a"]}}]}}`,
		`Probe {"spec":{"prober":{"url":"a"},"params":[{"name":"a","values":["$(PATH)"]}],"targets":{"staticConfig":{"static":["$(PATH)"]}}}}`,
	} {
		kind, text, _ := strings.Cut(object, " ")
		f := compilerOf(t, kind, text)(settingsOf(t, `{}`))
		if f.Err != nil || !allSubstituted(f.YAML) || !strings.Contains(string(f.YAML), `\x24(`) {
			t.Errorf("%s: error %v\n%s", object, f.Err, f.YAML)
		}
	}
}
