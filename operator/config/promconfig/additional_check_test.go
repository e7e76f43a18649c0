package promconfig

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// refused returns the errors for a list, without the name of the Secret.
func refused(t *testing.T, k itemKind, version, text string) string {
	t.Helper()
	items, err := gate.ParseList([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	from := assets.ContentError{Ref: assets.Ref{Namespace: "ns", Name: "s"}, Key: "k"}
	if err = k.checkItems(text, items, from, gate.Target{Version: semver.MustParse(version)}); err == nil {
		return ""
	}
	const secret = `key "k" of Secret "ns/s", `
	if !strings.Contains(err.Error(), secret) {
		t.Errorf("want the key and the Secret in %v", err)
	}
	return strings.ReplaceAll(err.Error(), secret, "")
}

// TestCheckAlerting: invalid Alertmanagers and alert relabel steps are rejected.
func TestCheckAlerting(t *testing.T) {
	for name, tc := range map[string]struct {
		items         itemKind
		version, text string
		want          string // empty: accepted
	}{
		"good":                       {alertmanagerItems, "3.5.0", "- scheme: https\n  path_prefix: /am\n  timeout: 5s\n  api_version: v2\n  static_configs: [{targets: [a:9093]}]\n  basic_auth: {username: a, password: b}\n- kubernetes_sd_configs: [{role: pod}]\n", ""},
		"a field of Thanos":          {alertmanagerItems, "3.5.0", "- http_config: {}\n  static_configs: [a:9093]\n", "line 1: unknown field http_config"},
		"a typo":                     {alertmanagerItems, "3.5.0", "- static_configs: [{targets: [a:9093]}]\n- static_config: [{targets: [a:9093]}]\n", "line 2: unknown field static_config, did you mean static_configs?"},
		"a target with a path":       {alertmanagerItems, "3.5.0", "- static_configs: [{targets: ['http://hunter2/x']}]\n", "line 1: "},
		"two ways to authenticate":   {alertmanagerItems, "3.5.0", "- basic_auth: {username: a, password: hunter2}\n  authorization: {credentials: hunter2}\n", "at most one of"},
		"an API that is gone":        {alertmanagerItems, "3.5.0", "- api_version: v1\n", "line 1: "},
		"the API of an older server": {alertmanagerItems, "2.50.0", "- api_version: v1\n", ""},
		"a list of Alertmanagers":    {alertmanagerItems, "3.5.0", "- alertmanagers:\n  - static_configs: []\n", "unknown field alertmanagers"},
		"steps":                      {relabelItems, "3.5.0", "- {action: drop, source_labels: [a], regex: b}\n- {action: labeldrop, regex: x.*}\n- {target_label: a, replacement: b}\n", ""},
		"a step as of a monitor":     {relabelItems, "3.5.0", "- {action: drop, sourceLabels: [a]}\n", "line 1: unknown field sourceLabels, did you mean source_labels?"},
		"a regular expression":       {relabelItems, "3.5.0", "- {action: keep, source_labels: [a], regex: 'hunter2('}\n", "line 1: "},
		"no target":                  {relabelItems, "3.5.0", "- {source_labels: [a]}\n", "requires"},
		"a variable":                 {relabelItems, "3.5.0", "- {action: $(ACTION), x: y}\n", ""},
		"no step":                    {relabelItems, "3.5.0", "- null\n", "line 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			got := refused(t, tc.items, tc.version, tc.text)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || strings.Contains(got, "hunter2") {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

// TestCheckAdditional: invalid additional jobs are rejected with the line, and valid ones are
// accepted. No message contains a value.
func TestCheckAdditional(t *testing.T) {
	for name, tc := range map[string]struct {
		version, text string
		want          []string // one for each error
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
		"a name twice":             {"2.30.0", "- job_name: a\n- {job_name: a}\n", []string{`line 2: job_name "a" is a duplicate (of line 1)`}},
		"no name":                  {"2.30.0", "- metrics_path: /a\n- job_name: ''\n", []string{"line 1: job_name is missing", "line 2: job_name is missing"}},
		"fields of monitors":       {"3.0.0", "- job_name: a\n  relabelings: []\n  metricRelabelings: []\n  interval: 1s\n  path: /\n  kubernetesSDConfigs: []\n", []string{"line 2: unknown field relabelings, did you mean relabel_configs?", "line 3: unknown field metricRelabelings, did you mean metric_relabel_configs?", "line 4: unknown field interval, did you mean scrape_interval?", "line 5: unknown field path, did you mean metrics_path?", "line 6: unknown field kubernetesSDConfigs, did you mean kubernetes_sd_configs?"}},
		"typos":                    {"3.0.0", "- job_name: a\n  static_config: []\n  scrape_intervall: 1s\n", []string{"line 2: unknown field static_config, did you mean static_configs?", "line 3: unknown field scrape_intervall, did you mean scrape_interval?"}},
		"a typo in a step":         {"3.5.0", "- job_name: a\n  relabel_configs: [{source_label: [a]}]\n", []string{"line 2: unknown field source_label, did you mean source_labels?"}},
		"an unknown action":        {"3.5.0", "- job_name: a\n  relabel_configs:\n  - action: keep\n    source_labels: [a]\n  - action: hunter2\n", []string{"line 5: unknown relabel action …"}},
		"an action misspelled":     {"3.5.0", "- job_name: a\n  relabel_configs:\n  - source_labels: [a]\n    action: droplabel\n", []string{"line 4: unknown relabel action …, did you mean labeldrop?"}},
		"a wrong type":             {"3.5.0", "- job_name: a\n  scrape_interval: hunter2\n", []string{"line 2: "}},
		"text for a list":          {"3.5.0", "- job_name: a\n  static_configs:\n  - targets: hunter2:80\n  metrics_path: [hunter2]\n", []string{"line 3: want a list, got text", "line 4: want text, got a list"}},
		"a URL as target":          {"3.5.0", "- job_name: a\n  static_configs:\n  - targets:\n    - a:80\n    - http://hunter2/x\n", []string{"line 5: want host:port as target, without scheme and path"}},
		"a misspelled name":        {"3.5.0", "- jobName: a\n", []string{"line 1: unknown field jobName, did you mean job_name?"}},
		"one of another version":   {"2.30.0", "- jobName: a\n", []string{"line 1: job_name is missing"}},
		"no name and a fault":      {"3.5.0", "- static_configs: [{targets: a}]\n", []string{"line 1: job_name is missing", "line 1: want a list, got text"}},
		"a role in upper case":     {"3.5.0", "- job_name: a\n  kubernetes_sd_configs:\n  - role: Pod\n", []string{"line 3: unknown role of kubernetes_sd_configs, did you mean pod?"}},
		"a role of nothing":        {"3.5.0", "- job_name: a\n  kubernetes_sd_configs: [{role: hunter2}]\n", []string{"unknown role of kubernetes_sd_configs; there are pod, service"}},
		"a long timeout":           {"3.5.0", "- job_name: a\n  scrape_interval: 10s\n  scrape_timeout: 30s\n", []string{"line 3: scrape_timeout is longer than scrape_interval (line 2)"}},
		"a short timeout":          {"3.5.0", "- job_name: a\n  scrape_interval: 1m\n  scrape_timeout: 30s\n", nil},
		"a typo in a discovery":    {"3.5.0", "- job_name: a\n  kubernets_sd_configs: []\n", []string{"did you mean kubernetes_sd_configs?"}},
		"two ways to authenticate": {"3.5.0", "- job_name: a\n  bearer_token: hunter2\n  bearer_token_file: /x\n", []string{"at most one of"}},
		"a key of version 2":       {"2.50.0", "- job_name: a\n  scrape_classic_histograms: true\n", nil},
		"a key of a newer version": {"3.99.0", "- job_name: a\n  from_the_future: true\n", nil},
		"a variable":               {"3.5.0", "- job_name: a\n  scrape_interval: $(INTERVAL)\n", nil},
		"a merge":                  {"3.5.0", "- &a {job_name: a, metrics_path: /a}\n- {<<: *a, job_name: b}\n", nil},
		"a whole job from another": {"3.5.0", "- {<<: &a {scrape_interval: 1s, job_name: a}}\n- {<<: *a}\n", nil},
		"a step without a target":  {"3.5.0", "- job_name: a\n  relabel_configs: [{source_labels: [a]}]\n", []string{"target_label"}},
		"a step that is none":      {"3.5.0", "- job_name: a\n  metric_relabel_configs: [null]\n", []string{"line 2: "}},
		"a quote in a value":       {"3.5.0", `- {job_name: a, scrape_interval: 'x"hunter2'}`, []string{"line 1: "}},
		"an expression null":       {"3.5.0", "- job_name: a\n  metric_relabel_configs: [{action: drop, regex: 'null'}]\n", []string{"line 2: a regex is null or ~"}},
		"a label regex null":       {"3.5.0", "- job_name: a\n  static_configs: [{targets: [a], labels: {regex: 'null'}}]\n", nil},
		"a step that shards":       {"3.5.0", "- job_name: a\n  relabel_configs: [{action: hashmod, source_labels: [a], modulus: 2, target_label: b}]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := refused(t, jobItems, tc.version, strings.TrimPrefix(tc.text, "\n"))
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

// TestAdditionalAliases: a list that YAML aliases expand beyond any valid configuration is rejected
// before it is expanded.
func TestAdditionalAliases(t *testing.T) {
	var secrets assets.Static
	secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, StringData: map[string]string{
		"k": "- job_name: a\n  params:\n    a: [&a " + strings.Repeat("hunter2", 70_000) + strings.Repeat(", *a", 2000) + "]\n",
	}})
	sel := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	target := gate.Target{Version: semver.MustParse("3.5.0")}
	r := newResolver("ns", &secrets, target)
	_, err := r.additionalItems(ownScrapeConfigs, sel, target)
	const want = `loading additional scrape configs failed: key "k" of Secret "s": yaml: line 3: the aliases up to here stand for more than 4 MiB`
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// A Secret cannot make Prometheus' parser compile more regular expressions than the budget of one object.
func TestAdditionalRegexpsAreBounded(t *testing.T) {
	many := func(line string) string { return strings.Repeat(line, 1000) }
	for name, text := range map[string]string{
		"jobs":          many("- job_name: a\n  relabel_configs: [{regex: '\\pL{990}', action: drop}]\n"),
		"metrics":       many("- job_name: a\n  metric_relabel_configs: [{regex: '\\pL{990}', action: drop}]\n"),
		"alerts":        many("- {regex: '\\pL{990}', action: drop}\n"),
		"Alertmanagers": many("- alert_relabel_configs: [{regex: '\\pL{990}', action: drop}]\n"),
		"one":           "- {regex: '" + strings.Repeat(".", 500_000) + "', action: drop}\n",
	} {
		nodes, err := gate.ParseList([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		budgettest.AtMost(t, name, 64<<20, func() {
			if err := chargeSteps(nodes); !regexcost.IsTooMuch(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestNotAList: a text that is no list of maps is rejected with the line and what to change, without a value.
func TestNotAList(t *testing.T) {
	for name, tc := range map[string]struct {
		items      itemKind
		text, want string
	}{
		"a configuration file":    {jobItems, "# jobs\nscrape_configs:\n- job_name: a\n", "line 2: want a YAML list of maps, got a map; leave out scrape_configs: and write only its list"},
		"a file of a ruler":       {alertmanagerItems, "alertmanagers:\n- scheme: https\n", "line 1: want a YAML list of maps, got a map; leave out alertmanagers: and write only its list"},
		"a part of a file":        {alertmanagerItems, "alerting:\n  alertmanagers:\n  - scheme: https\n", "line 2: want a YAML list of maps, got a map; leave out alerting: and alertmanagers: and write only the list below them"},
		"a whole file":            {alertmanagerItems, "global: {}\nscrape_configs: []\nalerting:\n  alert_relabel_configs: []\n  alertmanagers: []\n", "line 5: want a YAML list of maps, got a map; leave out alerting: and alertmanagers:"},
		"relabeling of a file":    {relabelItems, "alerting:\n  alert_relabel_configs: []\n", "line 2: want a YAML list of maps, got a map; leave out alerting: and alert_relabel_configs:"},
		"a whole file for jobs":   {jobItems, "global: {}\nalerting: {}\nscrape_configs: []\n", "line 3: want a YAML list of maps, got a map; leave out scrape_configs: and write only its list"},
		"one job":                 {jobItems, "job_name: hunter2\n", "line 1: want a YAML list of maps, got a map; write - before its first key"},
		"another map":             {jobItems, "hunter2: b\n", "line 1: want a YAML list of maps, got a map"},
		"a list of names":         {jobItems, "- job_name: a\n- hunter2\n", "line 2: want a YAML list of maps, and this item is none"},
		"wrong indentation":       {jobItems, "- job_name: hunter2\n static_configs:\n  - targets: []\n", "line 2: is not valid YAML: did not find expected '-' indicator"},
		"an alias of nothing":     {jobItems, "- job_name: *hunter2\n", "is not valid YAML"},
		"text":                    {jobItems, "hunter2", "line 1: want a YAML list of maps, got text"},
		"base64 of base64":        {jobItems, "LSBqb2JfbmFtZTogaHVudGVyMgo=", "line 1: want a YAML list of maps, got base64: the value is encoded twice; encode it once, or write it as it is into stringData"},
		"a list in two documents": {jobItems, "a: b\n---\n- job_name: a\n", "line 1: want a YAML list of maps, got a map"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.items.notList(tc.text, assets.ContentError{Key: "k"})
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}
