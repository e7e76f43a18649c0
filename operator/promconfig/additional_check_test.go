package promconfig

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// TestCheckAdditional: what Prometheus refuses of jobs that users write themselves, with the
// line, and what it takes. A value is in no message.
func TestCheckAdditional(t *testing.T) {
	for name, tc := range map[string]struct {
		version, text string
		want          []string // one for each fault
	}{
		"good": {"3.13.2", `
- job_name: a
  honor_labels: true
  scrape_interval: 15s
  scrape_protocols: [PrometheusText0.0.4]
  static_configs: [{targets: [a:1], labels: {x: y}}]
  kubernetes_sd_configs: [{role: pod}]
  serverset_sd_configs: [{servers: [a], paths: [/b]}]
  relabel_configs: [{action: keep, source_labels: [x], regex: y}]
  metric_relabel_configs: [{action: drop, source_labels: [__name__], regex: a}]
  basic_auth: {username: a, password_file: /b}
  tls_config: {insecure_skip_verify: true}
- job_name: b
  metrics_path: /m
  params: {a: [b]}
  bearer_token: x
`, nil},
		"a name twice":             {"2.30.0", "- job_name: a\n- {job_name: a}\n", []string{`[1]: line 2: job_name "a" is a duplicate (of line 1)`}},
		"no name":                  {"2.30.0", "- metrics_path: /a\n- job_name: ''\n", []string{"[0]: line 1: job_name is missing", "[1]: line 2: job_name is missing"}},
		"typos":                    {"3.0.0", "- job_name: a\n  static_config: []\n  scrape_intervall: 1s\n", []string{"[0]: line 2: unknown field static_config, did you mean static_configs?", "line 3: unknown field scrape_intervall, did you mean scrape_interval?"}},
		"a typo in a step":         {"3.5.0", "- job_name: a\n  relabel_configs: [{source_label: [a]}]\n", []string{"field source_label not found"}},
		"an unknown action":        {"3.5.0", "- job_name: a\n  relabel_configs: [{action: hunter2}]\n", []string{"[0]: line 1: "}},
		"a wrong type":             {"3.5.0", "- job_name: a\n  scrape_interval: hunter2\n", []string{"[0]: line 1: "}},
		"a typo in a discovery":    {"3.5.0", "- job_name: a\n  kubernets_sd_configs: []\n", []string{"did you mean kubernetes_sd_configs?"}},
		"two ways to authenticate": {"3.5.0", "- job_name: a\n  bearer_token: hunter2\n  bearer_token_file: /x\n", []string{"at most one of"}},
		"a key of version 2":       {"2.50.0", "- job_name: a\n  scrape_classic_histograms: true\n", nil},
		"a key of a newer version": {"3.99.0", "- job_name: a\n  from_the_future: true\n", nil},
		"a variable":               {"3.5.0", "- job_name: a\n  scrape_interval: $(INTERVAL)\n", nil},
		"a merge":                  {"3.5.0", "- &a {job_name: a, metrics_path: /a}\n- {<<: *a, job_name: b}\n", nil},
		"a whole job from another": {"3.5.0", "- {<<: &a {scrape_interval: 1s, job_name: a}}\n- {<<: *a}\n", nil},
		"a step that shards":       {"3.5.0", "- job_name: a\n  relabel_configs: [{action: hashmod, source_labels: [a], modulus: 2, target_label: b}]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkAdditional(strings.TrimPrefix(tc.text, "\n"), assets.ContentError{Key: "k"}, gate.Target{Version: semver.MustParse(tc.version)})
			text := ""
			if err != nil {
				text = err.Error()
			}
			if n := strings.Count(text, "\n") + 1; (text == "") != (len(tc.want) == 0) || text != "" && n != len(tc.want) {
				t.Errorf("want %d faults, got %s", len(tc.want), text)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, text)
				}
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("a value is in %s", text)
			}
		})
	}
}
