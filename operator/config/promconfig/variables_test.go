package promconfig

import (
	"strings"
	"testing"
)

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
