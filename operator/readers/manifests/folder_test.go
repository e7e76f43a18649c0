package manifests

import (
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Files of a folder that are not manifests are skipped without faults. A broken manifest of our
// group is a fault.
func TestRepository(t *testing.T) {
	const fine = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	for name, tc := range map[string]struct {
		file, text string
		want       string // fault; empty for none
	}{
		"values of a chart":            {"values.yaml", "prometheus:\n  prometheusSpec: {replicas: 2}\n", ""},
		"a chart":                      {"Chart.yaml", "apiVersion: v2\nname: x\nversion: 0.1.0\n", ""},
		"a kustomization without kind": {"kustomization.yaml", "resources: [a.yaml]\n", ""},
		"a workflow":                   {".github/workflows/ci.yaml", "on: push\njobs: {}\n", ""},
		"a dashboard":                  {"dashboard.json", `{"panels": [], "title": "x", "templating": "{{ $labels }}"}`, ""},
		"a lock file":                  {"jsonnetfile.lock.json", `{"version": 1, "dependencies": []}`, ""},
		"a patch of JSON":              {"patch.yaml", "- op: replace\n  path: /spec/replicas\n  value: 3\n", ""},
		"rules for promtool":           {"rules.yaml", "groups:\n- name: a\n  rules: []\n", ""},
		"a list of names":              {"names.yml", "- a\n- b\n", ""},
		"a text":                       {"a.yaml", "hello\n", ""},
		"a template of a chart":        {"x/deploy.yaml", "kind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n", ""},
		"a template with a condition":  {"x/sm.yaml", "{{- if .Values.monitor }}\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\n{{- end }}\n", ""},
		"a template that is YAML":      {"x/q.yaml", "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: \"{{ .Release.Name }}\"}\nspec: {selector: {}}\n", ""},
		"a template of Ansible":        {"tasks.yaml", "- name: x\n  when: {{ a }}\n", ""},
		"Argo CD's values":             {"apps/prometheus.yaml", "applications: {a: {}}\n", ""},
		"an Application":               {"apps/a.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\nspec: {}\n", ""},
		"no kind, but our group":       {"a.yaml", "apiVersion: monitoring.coreos.com/v1\nmetadata: {name: x}\n", "kind is missing"},
		"keys in another case":         {"a.yaml", "apiversion: monitoring.coreos.com/v1\nKind: PodMonitor\nmetadata: {name: x}\n", "unknown field, did you mean \"apiVersion\"?"},
		"no group, but our kind":       {"a.yaml", "kind: PodMonitor\nmetadata: {name: x}\n", "apiVersion: is missing"},
		"a broken manifest":            {"a.yaml", "apiVersion: monitoring.coreos.com/v1\nkind: [\n", "yaml: "},
		"a broken manifest of others":  {"a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {\n", "yaml: "},
		"an annotation without quotes": {"a.yaml", "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n  groups:\n  - rules:\n    - annotations:\n        summary: {{ $labels.instance }} is down\n", "line 7: a value that begins with {{ must be in quotes"},
		"a tab":                        {"a.yaml", "apiVersion: monitoring.coreos.com/v1\n\tkind: x\n", "not with tabs"},
		"a list of scrape configs":     {"a.yaml", "- job_name: x\n", "scrape configurations of Prometheus itself go into a Secret"},
		"an item of a List":            {"a.yaml", "apiVersion: v1\nkind: List\nitems:\n- {a: b}\n", "items[0]: not a manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{tc.file: tc.text, "fine.yaml": fine})
			_, err := Load([]string{dir}, kinds())
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("err = %v, want %q", err, tc.want)
			}
			if tc.want != "" || strings.HasPrefix(tc.text, "apiVersion: argo") {
				return
			}
			if _, err := Load([]string{dir + "/" + tc.file}, kinds()); err == nil {
				t.Error("a file that is named itself is not read")
			}
		})
	}
}

// A patch is not a duplicate or invalid object. Templates of charts are skipped.
func TestKustomize(t *testing.T) {
	patch := strings.Replace(pod("web"), "spec: {selector: {}}", "spec: {podMetricsEndpoints: [{port: http}]}", 1)
	dir := folder(t, map[string]string{
		"base/kustomization.yaml":      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n",
		"base/web.yaml":                pod("web"),
		"prod/kustomization.yml":       "resources: [../base]\npatches:\n- path: port.yaml\n- patch: |-\n    - op: remove\npatchesStrategicMerge:\n- more/also.yaml\n- |-\n  apiVersion: v1\n",
		"prod/port.yaml":               patch,
		"prod/more/also.yaml":          patch,
		"chart/Chart.yaml":             "name: x\n",
		"chart/templates/sm.yaml":      "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: static}\nspec: {x: y}\n",
		"not-a-chart/templates/a.yaml": pod("kept"),
	})
	o, err := Load([]string{dir}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	if got := named(o.All(catalog.PodMonitor)); !slices.Equal(got, []string{"team/kept", "team/web"}) {
		t.Errorf("read %v", got)
	}
	if o.Skipped != 5 {
		t.Errorf("%d documents are counted as skipped", o.Skipped)
	}
}
