package promconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// nameSteps holds steps that write to labels.
var nameSteps = map[string]v1.RelabelConfig{
	"replace ab":        {TargetLabel: "ab"},
	"replace a.b":       {TargetLabel: "a.b"},
	"replace ${1}":      {TargetLabel: "${1}"},
	"replace x_${1}":    {TargetLabel: "x_${1}"},
	"replace a-$1":      {TargetLabel: "a-$1"},
	"replace a$":        {TargetLabel: "a$"},
	"hashmod a.b":       {Action: "hashmod", Modulus: 2, TargetLabel: "a.b"},
	"lowercase a.b":     {Action: "lowercase", TargetLabel: "a.b"},
	"keepequal a.b":     {Action: "keepequal", TargetLabel: "a.b"},
	"hashmod x_${1}":    {Action: "hashmod", Modulus: 2, TargetLabel: "x_${1}"},
	"labelmap":          {Action: "labelmap", Regex: "a(.*)"},
	"labelmap x_${1}":   {Action: "labelmap", Regex: "a(.*)", Replacement: new("x_${1}")},
	"labelmap a-$1":     {Action: "labelmap", Regex: "a(.*)", Replacement: new("a-$1")},
	"labelmap some-one": {Action: "labelmap", Regex: "a(.*)", Replacement: new("some-one")},
	"keep from a.b":     {Action: "keep", SourceLabels: []v1.LabelName{"a.b"}, Regex: "x"},
}

// TestLabelNames: the same steps are rejected for a version as by its own validation.
func TestLabelNames(t *testing.T) {
	templates := []string{"replace a-$1", "replace a$", "labelmap a-$1", "labelmap some-one"}
	dots := []string{"replace a.b", "hashmod a.b", "hashmod x_${1}", "lowercase a.b", "keepequal a.b"}
	v2 := slices.Concat(templates, dots, []string{"keep from a.b"})
	for _, tc := range []struct {
		versions     string
		utf8, legacy []string // rejected under the scheme
	}{
		{"2.41.0 2.55.1 3.0.0-rc.1", v2, v2},
		{"3.0.0 3.0.1 3.1.0", templates, templates},
		{"3.2.0 3.4.0 3.6.0", nil, nil},
		{"3.7.0 3.7.1", nil, slices.Concat(templates, dots, []string{"replace ${1}", "replace x_${1}", "labelmap", "labelmap x_${1}"})},
		{"3.7.2 3.8.0 3.13.2", nil, slices.Concat(templates, dots)},
	} {
		for version := range strings.FieldsSeq(tc.versions) {
			for scheme, refused := range map[v1.NameValidationSchemeOptions][]string{
				"": tc.utf8, v1.UTF8NameValidationScheme: tc.utf8, v1.LegacyNameValidationScheme: tc.legacy,
			} {
				for name, step := range nameSteps {
					err := rulesAt(version, scheme).check([]v1.RelabelConfig{step})
					if (err != nil) != slices.Contains(refused, name) {
						t.Errorf("%s with names %q: %s: %v", version, scheme, name, err)
					}
				}
			}
		}
	}
}

// TestLabelNamesAsPromtool: the available versions of promtool reject the same steps.
func TestLabelNamesAsPromtool(t *testing.T) {
	all := checkers(t)
	if len(all) == 0 {
		t.Skip("no promtool is here; FIREKEEPER_PROMTOOLS=1 gets them")
	}
	for _, c := range all {
		var b batch
		ours := map[string]error{}
		for _, scheme := range []v1.NameValidationSchemeOptions{"", v1.UTF8NameValidationScheme, v1.LegacyNameValidationScheme} {
			if scheme != "" && c.version.Major() < 3 {
				continue
			}
			for name, step := range nameSteps {
				for place, text := range relabelDocuments(t, step, scheme) {
					name := fmt.Sprintf("%s with names %q in %s", name, scheme, place)
					ours[name] = rulesAt(c.version.String(), scheme).check([]v1.RelabelConfig{step})
					b.names, b.texts = append(b.names, name), append(b.texts, text)
				}
			}
		}
		theirs := map[string]bool{}
		for _, refusal := range b.check(t, c) {
			name, _, _ := strings.Cut(refusal, ": ")
			theirs[name] = true
		}
		for name, err := range ours {
			if (err != nil) != theirs[name] {
				t.Errorf("%s: %s: promtool refuses it: %t; we say %v", c.version, name, theirs[name], err)
			}
		}
	}
}

// relabelDocuments returns configurations with the step in each place that has relabel steps.
func relabelDocuments(t *testing.T, step v1.RelabelConfig, scheme v1.NameValidationSchemeOptions) map[string][]byte {
	t.Helper()
	steps, _, err := gate.AppendItems(nil, appendRelabel(nil, []v1.RelabelConfig{step}), gate.Target{}, "")
	if err != nil {
		t.Fatal(err)
	}
	head := "global: {}\n"
	if scheme != "" {
		head = "global: {metric_name_validation_scheme: " + strings.ToLower(string(scheme)) + "}\n"
	}
	out := map[string][]byte{}
	for place, before := range map[string]string{
		"relabel_configs":        "scrape_configs:\n- job_name: a\n  relabel_configs:\n",
		"metric_relabel_configs": "scrape_configs:\n- job_name: a\n  metric_relabel_configs:\n",
		"alert_relabel_configs":  "alerting:\n  alert_relabel_configs:\n",
		"write_relabel_configs":  "remote_write:\n- url: http://a\n  write_relabel_configs:\n",
	} {
		out[place] = []byte(head + before + indent(string(steps)))
	}
	return out
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
