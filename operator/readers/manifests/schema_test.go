package manifests

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Every kind of the group has a CRD with a matching name.
func TestSchemas(t *testing.T) {
	var s schemas
	for _, kind := range catalog.All {
		if _, err := s.checker(kind.GroupVersionKind); err != nil {
			t.Error(err)
		}
	}
	all, err := crds.Standard("")
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range all {
		for _, k := range catalog.All {
			names := crd.Spec.Names
			if k.Kind == names.Kind && (k.Resource != names.Plural || !slices.Contains(names.ShortNames, k.Short)) {
				t.Errorf("%s is %s, %q; the table has %s, %s", k.Kind, names.Plural, names.ShortNames, k.Resource, k.Short)
			}
		}
	}
	if _, err := s.checker(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}); err == nil {
		t.Error("a foreign kind has a checker")
	}
}

// Every kind of invalid value is rejected. Messages never repeat a value, because a URL may hold a
// password, except for enumerations and the keys of lists.
func TestInvalid(t *testing.T) {
	const (
		prometheus = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x}\nspec: "
		monitor    = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: x}\nspec: "
	)
	for name, tc := range map[string]struct{ text, want string }{
		"good":                {prometheus + "{replicas: 1}", ""},
		"enum":                {prometheus + "{podManagementPolicy: Never}", `spec.podManagementPolicy: "Never" is not one of the supported values: "OrderedReady", "Parallel"`},
		"pattern":             {prometheus + "{scrapeInterval: hunter2}", `spec.scrapeInterval: want a duration such as 30s`},
		"a URL":               {prometheus + "{remoteWrite: [{url: 'ftp://me:hunter2@a'}]}", `spec.remoteWrite[0].url: want a URL with http:// or https://`},
		"required":            {prometheus + "{remoteWrite: [{}]}", `spec.remoteWrite[0].url: is required`},
		"least":               {prometheus + "{minReadySeconds: -1}", "spec.minReadySeconds: should be greater than or equal to 0"},
		"too short":           {prometheus + "{scrapeClasses: [{name: ''}]}", `spec.scrapeClasses[0].name: should be at least 1 chars long`},
		"in a list":           {monitor + "{selector: {}, podMetricsEndpoints: [{params: {}, metricRelabelings: [{sourceLabels: [a], action: bad}]}]}", `.action: "bad" is not one of the supported values: `},
		"list that is a map":  {prometheus + "{hostAliases: [{ip: a, hostnames: [x]}, {ip: a, hostnames: [z]}]}", `spec.hostAliases[1]: ip "a" is that of spec.hostAliases[0] already`},
		"rule":                {prometheus + "{shards: 1, shardingStrategy: {topology: {values: [a]}}}", `spec.shardingStrategy.topology: can only be defined when mode is set to 'Topology'`},
		"wrong type":          {prometheus + "{replicas: many}", "spec.replicas: want an integer, got a string"},
		"name":                {strings.Replace(prometheus, "name: x", "name: Main", 1) + "{}", `metadata.name: want a name of lower case letters, digits, - and .`},
		"namespace":           {strings.Replace(prometheus, "name: x", "name: x, namespace: A", 1) + "{}", `metadata.namespace: want a name of lower case letters, digits and -`},
		"label":               {strings.Replace(prometheus, "name: x", "name: x, labels: {a: 'b c'}", 1) + "{}", `metadata.labels["a"]: want a value of at most 63 letters`},
		"name of a ConfigMap": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a_b}", `metadata.name: want a name of lower case letters, digits, - and .`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.yaml": tc.text})
			_, err := Load([]string{dir}, kinds())
			switch {
			case tc.want == "":
				if err != nil {
					t.Fatal(err)
				}
				return
			case err == nil || !strings.Contains(err.Error(), tc.want):
				t.Fatalf("err = %v\nwant %s", err, tc.want)
			case strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), " in body "):
				t.Errorf("badly worded: %v", err)
			}
			if _, err := LoadStored([]string{dir}, kinds()); err != nil && name != "wrong type" {
				t.Errorf("stored objects are checked: %v", err)
			}
		})
	}
}

// A value below a key with dots has one fault, at the path with the key in quotes.
func TestKeysWithDots(t *testing.T) {
	_, wrong := LoadAll([]string{folder(t, map[string]string{"a.yaml": `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: x, labels: {a.b/c: true}}
spec:
  nodeSelector: {a: b, a.b/c: true}
  podMetadata: {annotations: {a.b: 1}, labels: {a.b/c: 1}}
  resources: {limits: {a.b/c: 1 B}}
  serviceMonitorSelector: {matchLabels: {a.b/c: true}}
  containers: [{name: a, resources: {requests: {a.b/c: 1 B}}}]
`})}, kinds())
	var got []string
	for _, f := range wrong {
		for _, err := range f.Errors() {
			got = append(got, pathOf(err))
		}
	}
	if diff := cmp.Diff([]string{
		`metadata.labels["a.b/c"]`, `spec.containers[0].resources.requests["a.b/c"]`, `spec.nodeSelector["a.b/c"]`, `spec.podMetadata.annotations["a.b"]`,
		`spec.podMetadata.labels["a.b/c"]`, `spec.resources.limits["a.b/c"]`, `spec.serviceMonitorSelector.matchLabels["a.b/c"]`,
	}, got); diff != "" {
		t.Error(diff)
	}
}

// Objects are read as the API server would store them.
func TestDefaultsAreSet(t *testing.T) {
	o, err := Load([]string{folder(t, map[string]string{
		"a.yaml": "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x}\nspec: {portName: null, containers: [{name: a, ports: [{containerPort: 1}]}]}",
	})}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	p := o.Workloads()[0].Object.(*v1.Prometheus)
	s := p.Spec
	got := []string{string(s.ScrapeInterval), s.PortName, string(s.Containers[0].Ports[0].Protocol), p.GetNamespace()}
	if diff := cmp.Diff([]string{"30s", "web", string(corev1.ProtocolTCP), "default"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMisnamed(t *testing.T) {
	for from, want := range map[string]string{
		"monitoring.coreos.com/v1 Prometheus":              "",
		"monitoring.coreos.com/v1beta1 AlertmanagerConfig": "",
		"v1 Pod":                                          "",
		"v1 Prometheu":                                    "",
		"azmonitoring.coreos.com/v1 PodMonitor":           "",
		"monitoring.rhobs/v1 ServiceMonitor":              "",
		"monitoring.googleapis.com/v1 PodMonitoring":      "",
		"other.example/v1 Probe":                          "",
		"monitoring.coreos.com/v1 PodMonitr":              `kind: there is no kind PodMonitr in monitoring.coreos.com/v1, did you mean "PodMonitor"?`,
		"monitoring.coreos.com/v1 podMonitor":             `kind: there is no kind podMonitor in monitoring.coreos.com/v1, did you mean "PodMonitor"?`,
		"monitoring.coreos.com/v1 Gauge":                  `kind: there is no kind Gauge in monitoring.coreos.com/v1`,
		"monitoring.coreos.com/v1alpha1 ServiceMonitor":   `apiVersion: there is no kind ServiceMonitor in monitoring.coreos.com/v1alpha1, did you mean "monitoring.coreos.com/v1"?`,
		"monitoring.coreos.com/v1 AlertmanagerConfig":     `apiVersion: there is no kind AlertmanagerConfig in monitoring.coreos.com/v1, did you mean "monitoring.coreos.com/v1alpha1" or "monitoring.coreos.com/v1beta1"?`,
		"monitoring.coreos.org/v1 ServiceMonitor":         `apiVersion: there is no kind ServiceMonitor in monitoring.coreos.org/v1, did you mean "monitoring.coreos.com/v1"?`,
		"monitoring.core-os.com/v1alpha1 PrometheusAgent": `apiVersion: there is no kind PrometheusAgent in monitoring.core-os.com/v1alpha1, did you mean "monitoring.coreos.com/v1alpha1"?`,
		"v1 ServiceMonitor":                               `apiVersion: there is no kind ServiceMonitor in v1, did you mean "monitoring.coreos.com/v1"?`,
		" ServiceMonitor":                                 `apiVersion: is missing, did you mean "monitoring.coreos.com/v1"?`,
	} {
		version, kind, _ := strings.Cut(from, " ")
		got := ""
		if err := misnamed(schema.FromAPIVersionAndKind(version, kind)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got  %s\n want %s", from, got, want)
		}
	}
}
