package targets

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// read parses one job whose steps have empty origins.
func read(t *testing.T, text string, steps int, shards ...map[string]string) *Job {
	t.Helper()
	jobs, err := ReadJobs(promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{make([]promconfig.Origin, steps)}, Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	return &jobs[0]
}

func TestDiscoveriesOfJobs(t *testing.T) {
	j := read(t, `
- job_name: all
  scrape_classic_histograms: true # a key of major version 2
  consul_sd_configs: [{server: a}]
  dns_sd_configs: []
  kubernetes_sd_configs:
  - role: pod
    namespaces: {names: [a, b]}
    selectors: [{role: pod, label: a=b, field: spec.nodeName=n}]
    attach_metadata: {node: true}
  - {role: node, api_server: "https://other"}
  static_configs: [{targets: ["a:1", "b:1"], labels: {c: d}}]
`, 0)
	want := []KubernetesSD{
		{Role: "pod", Namespaces: Namespaces{Names: []string{"a", "b"}}, AttachMetadata: AttachMetadata{Node: true},
			Selectors: []Selector{{Role: "pod", Label: "a=b", Field: "spec.nodeName=n"}}},
		{Role: "node", APIServer: "https://other"},
	}
	if diff := cmp.Diff(want, j.Kubernetes); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, target := range j.Evaluate(Found{}).Targets() {
		got = append(got, string(target.State)+" "+target.URL+target.Message+" "+target.Labels["c"])
	}
	if diff := cmp.Diff([]string{"kept http://a:1/metrics d", "kept http://b:1/metrics d",
		"unknown targets of consul_sd_configs are found by the running Prometheus only "}, got); diff != "" {
		t.Error(diff)
	}
}

// Variables outside of relabel steps are replaced for each shard.
func TestVariablesOutsideOfSteps(t *testing.T) {
	shards := []map[string]string{{"SHARD": "0"}, {"SHARD": "1"}}
	j := read(t, "- {job_name: a, metrics_path: /$(SHARD), static_configs: [{targets: ['a:1']}]}", 0, shards...)
	if got := j.Evaluate(Found{}).Targets()[0]; len(got.Shards) != 2 || j.SDsDiffer {
		t.Errorf("on shards %v", got.Shards)
	}
	j = read(t, "- {job_name: a, static_configs: [{targets: ['a-$(SHARD):1']}]}", 0, shards...)
	if got := j.Evaluate(Found{}).Counts(); got[Unknown] != 1 || got[Kept] != 1 {
		t.Errorf("got %v: targets of shard 1 are not known", got)
	}
}

// In major version 2, label names are not UTF-8.
func TestLegacyNames(t *testing.T) {
	const text = "- {job_name: a b, static_configs: [{targets: ['a:1']}], relabel_configs: [{source_labels: [job], target_label: '${1}', replacement: c}]}"
	for version, want := range map[string]string{"3.0.0": "c", "2.55.1": ""} {
		jobs, err := ReadJobs(promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{{{Path: "x"}}}, Release: semver.MustParse(version)})
		if err != nil {
			t.Fatal(err)
		}
		if got := jobs[0].Evaluate(Found{}).Targets()[0].Labels["a b"]; got != want {
			t.Errorf("version %s: label %q, want %q", version, got, want)
		}
	}
}

func TestGlobalDefaults(t *testing.T) {
	const text = "- {job_name: a, static_configs: [{targets: ['a:1']}]}"
	for head, want := range map[string][3]string{
		"":                               {"1m", "10s", "kept"},
		"global: {scrape_interval: 5s}":  {"5s", "5s", "kept"},
		"global: {scrape_interval: 30s}": {"30s", "10s", "kept"},
		"global: {scrape_interval: 30s, scrape_timeout: 7s}": {"30s", "7s", "kept"},
		"global: {target_limit: 1}":                          {"1m", "10s", "kept"},
	} {
		jobs, err := ReadJobs(promconfig.JobText{Text: []byte(text), Origins: make([][]promconfig.Origin, 1), Head: []byte(head)})
		if err != nil {
			t.Fatal(err)
		}
		target := jobs[0].Evaluate(Found{}).Targets()[0]
		got := [3]string{target.Discovered[model.ScrapeIntervalLabel], target.Discovered[model.ScrapeTimeoutLabel], string(target.State)}
		if got != want {
			t.Errorf("%s: got %v, want %v", head, got, want)
		}
	}
}

func TestUnreadableJobs(t *testing.T) {
	for text, want := range map[string]string{
		"{":                              "read the jobs: ",
		"- {job_name: a}\n- job_name: b": "there are 2 jobs and the origins of 1",
		"- {job_name: a, relabel_configs: [{action: keep, source_labels: [a]}]}": "job a: there are 1 relabel steps and the origins of 0",
		"- {job_name: a, relabel_configs: [{action: hashmod}]}":                  "job a: ",
		"- {job_name: a, scrape_timeout: 2m, scrape_interval: 1m}":               "job a: scrape timeout greater",
		"- {job_name: a, metric_name_validation_scheme: none}":                   "job a: ",
		"- {job_name: a, relabel_configs: [{action: drop, regex: '~'}]}":         "a regex is",
	} {
		_, err := ReadJobs(promconfig.JobText{Text: []byte(text), Origins: make([][]promconfig.Origin, 1)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	for head, want := range map[string]string{"{": "read the global block: ", "global: {metric_name_validation_scheme: none}": ""} {
		if _, err := ReadJobs(promconfig.JobText{Head: []byte(head)}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", head, err, want)
		}
	}
}
