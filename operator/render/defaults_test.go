package render

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"sigs.k8s.io/yaml"
)

// TestDefaults compares with the code of the API server.
func TestDefaults(t *testing.T) {
	d, err := loadDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ resource, text string }{
		"a Prometheus without anything":      {"prometheuses", "spec: {}"},
		"without spec":                       {"prometheuses", "metadata: {name: x}"},
		"values of the user's":               {"prometheuses", "spec: {shards: 3, portName: http, scrapeInterval: 10s, evaluationInterval: 1m}"},
		"null is like nothing":               {"prometheuses", "spec: {portName: null, shards: null, scrapeInterval: null}"},
		"defaults inside of a value":         {"prometheuses", "spec: {thanos: {}, tsdb: {}, rules: {alert: {}}, web: {}, alerting: {alertmanagers: [{name: a, port: web}]}}"},
		"defaults inside of a list":          {"prometheuses", "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: b}], remoteWrite: [{url: a, writeRelabelConfigs: [{sourceLabels: [a]}]}]}"},
		"ports of a container":               {"prometheuses", "spec: {containers: [{name: a, ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP}]}]}"},
		"references without name":            {"prometheuses", "spec: {additionalScrapeConfigs: {key: a}, imagePullSecrets: [{}]}"},
		"a ServiceMonitor":                   {"servicemonitors", "spec: {selector: {}, endpoints: [{port: a, relabelings: [{}, {action: drop}], metricRelabelings: [{regex: a}]}]}"},
		"a PodMonitor":                       {"podmonitors", "spec: {selector: {}, podMetricsEndpoints: [{port: a, relabelings: [{}]}]}"},
		"a Probe":                            {"probes", "spec: {prober: {url: a}, targets: {staticConfig: {static: [a]}}}"},
		"a rule":                             {"prometheusrules", "spec: {groups: [{name: a, rules: [{alert: a, expr: b}]}]}"},
		"a field that the API does not have": {"prometheuses", "spec: {unknown: {a: 1}}"},
		"a wrong type":                       {"prometheuses", "spec: {thanos: text, containers: {}}"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := yaml.YAMLToJSON([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.apply(tc.resource, raw)
			if err != nil {
				t.Fatal(err)
			}
			want := asAPIServer(t, d[tc.resource], raw)
			if diff := cmp.Diff(want, decoded(t, got)); diff != "" {
				t.Errorf("API server -, ours +\n%s", diff)
			}
			again, err := d.apply(tc.resource, got)
			if diff := cmp.Diff(decoded(t, got), decoded(t, again)); diff != "" || err != nil {
				t.Errorf("twice: %s %v", diff, err)
			}
		})
	}
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asAPIServer(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, raw []byte) any {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	out := decoded(t, raw)
	defaulting.Default(out, structural)
	text, err := json.Marshal(out) // integers come as int64
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, text)
}
