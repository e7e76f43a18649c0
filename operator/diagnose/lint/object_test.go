package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// allKinds returns all kinds of workloads, with all feature gates enabled.
func allKinds() []*engine.Kind {
	options := controllerstest.Options()
	options.Capabilities.AgentDaemonSet = true
	return controllerstest.Kinds(options)
}

// objectOf returns an object with a spec, decoded and as JSON.
func objectOf(t testing.TB, row *catalog.Row, spec string) (catalog.Object, []byte) {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte("metadata: {name: a, namespace: team}\nspec: " + spec))
	if err != nil {
		t.Fatal(err)
	}
	object := row.New()
	if err := json.Unmarshal(text, object); err != nil {
		t.Fatal(err)
	}
	return object, text
}

func summary(findings []Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s: %s", f.Severity, f.Field, f.Message))
	}
	return strings.Join(out, "\n")
}

func TestObject(t *testing.T) {
	for name, tc := range map[string]struct {
		row        *catalog.Row
		spec, want string
	}{
		"good monitor":            {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: web, interval: 10s}]}", ""},
		"timeout over interval":   {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: web, interval: 10s, scrapeTimeout: 20s}]}", "error spec.endpoints[0].scrapeTimeout: 20s is longer than the interval 10s"},
		"regex":                   {catalog.PodMonitor, "{selector: {}, podMetricsEndpoints: [{port: web, relabelings: [{action: keep, regex: '('}]}]}", "error spec.podMetricsEndpoints[0].relabelings[0].regex: "},
		"targets":                 {catalog.Probe, "{prober: {url: blackbox}, targets: {}}", "error spec.targets: one of staticConfig and ingress is needed"},
		"ScrapeConfig":            {catalog.ScrapeConfig, "{scrapeInterval: 10s, scrapeTimeout: 1m, staticConfigs: [{targets: [a]}]}", "error spec.scrapeTimeout: 1m is longer than the interval 10s"},
		"version":                 {catalog.Prometheus, "{version: newest, serviceMonitorSelector: {}}", `error spec.version: `},
		"agent":                   {catalog.PrometheusAgent, "{mode: DaemonSet, serviceMonitorSelector: {}, scrapeInterval: 1s, scrapeTimeout: 5s}", "error spec.scrapeTimeout: 5s is longer than the interval 1s"},
		"Alertmanager":            {catalog.Alertmanager, "{externalUrl: 'ftp://a'}", "error spec.externalUrl: must start with http:// or https://"},
		"ThanosRuler":             {catalog.ThanosRuler, "{queryEndpoints: []}", "error spec.queryEndpoints: must not be empty unless queryConfig is set"},
		"dropped by the version":  {catalog.Prometheus, "{version: v2.45.0, serviceMonitorSelector: {}, scrapeProtocols: [OpenMetricsText1.0.0]}", "warning spec.scrapeProtocols: global.scrape_protocols needs Prometheus >= 2.49.0 and is left out"},
		"remark":                  {catalog.ThanosRuler, "{queryEndpoints: [q], version: v0.41.0, remoteWrite: [{url: 'http://w', writeRelabelConfigs: [{sourceLabels: [a], targetLabel: b}]}]}", "warning spec.remoteWrite[0].writeRelabelConfigs[0]: Thanos 0.41.0 crashes "},
		"inherited interval":      {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: web, scrapeTimeout: 5m}]}", ""},
		"class":                   {catalog.PodMonitor, "{selector: {}, scrapeClass: fast, podMetricsEndpoints: [{port: web}]}", ""},
		"class of a ScrapeConfig": {catalog.ScrapeConfig, "{scrapeClass: fast, staticConfigs: [{targets: [a]}]}", ""},
		"missing credentials":     {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: web, basicAuth: {username: {name: s, key: user}, password: {name: s, key: password}}}]}", ""},
		"missing certificates": {catalog.Prometheus, "{serviceMonitorSelector: {}, remoteWrite: [{url: 'https://w', tlsConfig: {ca: {configMap: {name: c, key: ca}}, cert: {secret: {name: s, key: tls.crt}}, keySecret: {name: s, key: tls.key}}}], " +
			"additionalScrapeConfigs: {name: more, key: jobs}, additionalAlertManagerConfigs: {name: more, key: managers}, additionalAlertRelabelConfigs: {name: more, key: steps}, secrets: [gone], configMaps: [gone]}", ""},
		"a fault beside missing credentials": {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: a, bearerTokenSecret: {name: s, key: k}}, {port: b, interval: 1s, scrapeTimeout: 2s}]}", "error spec.endpoints[1].scrapeTimeout: 2s is longer than the interval 1s"},
		"missing configuration": {catalog.Alertmanager, "{alertmanagerConfiguration: {name: none, global: {slackApiUrl: {name: s, key: url}, smtp: {authPassword: {name: s, key: pw}}}, templates: [{configMap: {name: c, key: t}}]}, " +
			"configSecret: none, alertmanagerConfigSelector: {}, web: {tlsConfig: {cert: {secret: {name: s, key: c}}, keySecret: {name: s, key: k}}}}", ""},
		"a name that no Secret has": {catalog.ServiceMonitor, "{selector: {}, endpoints: [{port: web, bearerTokenSecret: {name: No_Secret, key: k}}]}", `error spec.endpoints[0].bearerTokenSecret.name: "No_Secret" is not a valid name of a Secret: `},
	} {
		t.Run(name, func(t *testing.T) {
			object, text := objectOf(t, tc.row, tc.spec)
			got := summary(Object(allKinds(), tc.row, object, text))
			if got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want) || strings.Contains(got, "\n")) {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// named resolves every reference to a value that is valid for its field. The key of the
// reference selects the value; see [keysByField].
type named struct{}

func (named) Object(ref assets.Ref) assets.Object {
	return assets.Object{Version: "1", Values: map[string][]byte{
		"text": []byte("http://example.org"), "cert": golden.Certificates()["@CERT@"], "key": golden.Certificates()["@KEY@"], "list": []byte("[]"), "map": []byte("{}"),
	}}
}

// keysByField sets each reference of a sample to the key of a valid value of [named].
func keysByField(v any, field string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			keysByField(item, field)
		}
	case map[string]any:
		if _, selects := v["key"].(string); selects && len(v) <= 3 {
			switch {
			case field == "keySecret":
				v["key"] = "key"
			case field == "ca" || field == "cert":
				v["key"] = "cert"
			case field == "alertmanagersConfig":
				v["key"] = "map"
			case strings.HasPrefix(field, "additional") || field == "alertRelabelConfigs":
				v["key"] = "list"
			default:
				v["key"] = "text"
			}
			v["name"] = "named"
		}
		for name, child := range v {
			if name != "secret" && name != "configMap" {
				keysByField(child, name)
			} else {
				keysByField(child, field)
			}
		}
	}
}

// needed are the required fields of each kind.
var needed = map[string]map[string]any{
	v1.ThanosRulerKind: {"queryEndpoints": []any{"query"}},
	v1.ProbeKind:       {"prober": map[string]any{"url": "blackbox"}, "targets": map[string]any{"staticConfig": map[string]any{"static": []any{"a"}}}},
}

// TestReferencesAreNoFaults: the errors of a random object of any kind do not depend on
// whether its Secrets and ConfigMaps exist with valid values.
func TestReferencesAreNoFaults(t *testing.T) {
	versions := map[string]string{}
	for _, row := range catalog.All[:8] {
		versions[row.Kind] = row.Version
	}
	samples, err := sample.OfKinds(versions)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range catalog.All[:8] {
		t.Run(row.Kind, func(t *testing.T) {
			good := 0
			for seed := range uint64(60) {
				rng := rand.New(rand.NewPCG(seed, 7))
				random, err := samples[row.Kind].Object(rng, []float64{0.1, 0.02, 0.4}[seed%3])
				if err != nil {
					t.Fatal(err)
				}
				maps.Copy(random["spec"].(map[string]any), needed[row.Kind])
				keysByField(random["spec"], "")
				text, err := json.Marshal(random)
				if err != nil {
					t.Fatal(err)
				}
				object := row.New()
				if err := json.Unmarshal(text, object); err != nil {
					t.Fatal(err)
				}
				alone := errorsOf(Object(allKinds(), row, object, text))
				there := errorsOf(withReferences(t, row, object, text))
				if alone != there {
					t.Errorf("%s\nalone:\n%s\nwith references:\n%s", text, alone, there)
				}
				if alone == "" {
					good++
				}
			}
			if good < 10 {
				t.Errorf("only %d random objects are good", good)
			}
		})
	}
}

func errorsOf(findings []Finding) string {
	return summary(slices.DeleteFunc(findings, func(f Finding) bool { return f.Severity != SeverityError }))
}

// withReferences is like [Object], but all references exist.
func withReferences(t *testing.T, row *catalog.Row, object catalog.Object, text []byte) []Finding {
	t.Helper()
	kinds := allKinds()
	l := newLinter(manifests.Alone(kinds, row, object, text), Options{})
	l.objects.References.Otherwise = func(ref assets.Ref) (assets.Object, bool) { return named{}.Object(ref), true }
	l.alone(kinds, row, object, text)
	return slices.DeleteFunc(l.findings, func(f Finding) bool { return f.Kind != row.Kind })
}
