package explain

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Objects under test, in namespace demo.
const (
	demo    = "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo, labels: {team: a}}\n---\n"
	monitor = demo + `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: demo, labels: {app: web}}
spec: {selector: {}, endpoints: [{port: http}]}
---
`
	alerts = demo + `
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: web, namespace: demo, uid: abc}
spec: {groups: [{name: a, rules: [{record: "x:y", expr: EXPR}]}]}
---
`
)

// setups returns the setups of Prometheus, PrometheusAgent and Alertmanager with options.
func setups(opts engine.Options) []engine.Setup {
	config := workload.Config{
		PrometheusBaseImage: "registry/prometheus", AlertmanagerBaseImage: "registry/alertmanager", ConfigReloaderImage: "registry/reloader:v1", RulesReloaderImage: "registry/reloader:v1",
	}
	servers, agents := prometheus.Kinds(prometheus.Options{Workload: config}, &rules.Cache{})
	return []engine.Setup{{Kind: servers, Options: opts}, {Kind: agents, Options: opts}, {Kind: alertmanager.Kind(config), Options: opts}}
}

// owned returns the manifest of a workload.
func owned(kind, version, metadata, spec string) string {
	return "apiVersion: monitoring.coreos.com/" + version + "\nkind: " + kind + "\nmetadata: {name: main, " + metadata + "}\nspec: {" + spec + "}\n---\n"
}

func server(namespace, spec string) string {
	return owned("Prometheus", "v1", "namespace: "+namespace, spec)
}

// question returns the question about object demo/web of the manifests in text.
func question(t *testing.T, kind, text string, opts engine.Options) Question {
	t.Helper()
	setups := setups(opts)
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, faults := manifests.LoadAll([]string{file}, Kinds(setups))
	name, err := ParseName(Kinds(setups), kind, "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	q, err := FromManifests(objects, faults, setups, name)
	if err != nil {
		t.Fatal(err)
	}
	q.Findings = nil // as in a cluster; the golden files of the command test the findings
	return q
}

func TestServiceMonitor(t *testing.T) {
	everywhere := "serviceMonitorNamespaceSelector: {}, "
	for name, tc := range map[string]struct {
		manifests string
		opts      engine.Options
		configs   informer.Namespaces
		want      Result // without Workload; Message is a substring
		misses    []string
	}{
		"accepted": {
			manifests: monitor + server("monitoring", everywhere+"serviceMonitorSelector: {}"),
			want:      Result{Accepted: true, Reason: Accepted, Message: "accepted", Jobs: []string{"serviceMonitor/demo/web/0"}},
		},
		"accepted by its labels": {
			manifests: monitor + server("monitoring", "serviceMonitorNamespaceSelector: {matchLabels: {team: a}}, serviceMonitorSelector: {matchLabels: {app: web}}"),
			want:      Result{Accepted: true, Reason: Accepted, Jobs: []string{"serviceMonitor/demo/web/0"}},
		},
		"other labels": {
			manifests: monitor + server("monitoring", everywhere+"serviceMonitorSelector: {matchLabels: {app: api}}"),
			want:      Result{Reason: LabelsNotSelected, Message: "does not match the labels of the ServiceMonitor", Selector: "spec.serviceMonitorSelector"},
			misses:    []string{`app=api, but app is "web"`},
		},
		"other labels of the namespace": {
			manifests: monitor + server("monitoring", "serviceMonitorNamespaceSelector: {matchLabels: {team: b}}, serviceMonitorSelector: {}"),
			want:      Result{Reason: NamespaceNotSelected, Message: "does not match the labels of namespace demo", Selector: "spec.serviceMonitorNamespaceSelector"},
			misses:    []string{`team=b, but team is "a"`},
		},
		"another namespace": {
			manifests: monitor + server("monitoring", "serviceMonitorSelector: {}"),
			want:      Result{Reason: NamespaceNotSelected, Message: "selects namespace monitoring only", Selector: "spec.serviceMonitorNamespaceSelector"},
		},
		"the same namespace": {
			manifests: monitor + server("demo", "serviceMonitorSelector: {}"),
			want:      Result{Accepted: true, Reason: Accepted, Jobs: []string{"serviceMonitor/demo/web/0"}},
		},
		"no selector": {
			manifests: monitor + server("demo", "podMonitorSelector: {}"),
			want:      Result{Reason: SelectorNotSet, Message: "so it selects no ServiceMonitor", Selector: "spec.serviceMonitorSelector"},
		},
		"rejected for a Secret that is missing": {
			manifests: strings.Replace(monitor, "{port: http}", "{port: http, basicAuth: {username: {name: login, key: user}}}", 1) + server("demo", "serviceMonitorSelector: {}"),
			want:      Result{Reason: Rejected, Message: `spec.endpoints[0].basicAuth.username.name: Secret "demo/login" does not exist`},
		},
		"with a field that the version does not support": {
			manifests: strings.Replace(monitor, "{port: http}", "{port: http, enableHttp2: true}", 1) + server("demo", "version: 2.30.0, serviceMonitorSelector: {}"),
			want: Result{
				Accepted: true, Reason: AcceptedWithoutFields, Message: "version 2.30.0", Jobs: []string{"serviceMonitor/demo/web/0"},
				Dropped: []string{"spec.endpoints[0].enableHttp2: enable_http2 needs Prometheus >= 2.35.0 and is left out"},
			},
		},
		"an invalid Prometheus": {
			manifests: monitor + server("demo", "version: latest, serviceMonitorSelector: {}"),
			want:      Result{Reason: WorkloadInvalid, Message: `spec.version: "latest"`},
		},
		"a Prometheus of another operator": {
			manifests: monitor + owned("Prometheus", "v1", "namespace: demo, annotations: {operator.prometheus.io/controller-id: blue}", "serviceMonitorSelector: {}"),
			want:      Result{Reason: OtherController, Message: `is "blue", and this one runs without --controller-id`},
		},
		"a namespace that is not watched": {
			manifests: monitor + server("monitoring", everywhere+"serviceMonitorSelector: {}"),
			configs:   namespaces(t, "monitoring"),
			want:      Result{Reason: NamespaceNotWatched, Message: "does not watch ServiceMonitors in namespace demo (--namespaces)"},
		},
		"a Prometheus that is not watched": {
			manifests: monitor + server("demo", "serviceMonitorSelector: {}"),
			opts:      engine.Options{Instances: namespaces(t, "monitoring")},
			want:      Result{Reason: WorkloadNotWatched, Message: "does not watch Prometheus objects in namespace demo"},
		},
		"a paused Prometheus": {
			manifests: monitor + server("demo", "paused: true, serviceMonitorSelector: {}"),
			want: Result{Reason: Paused, Message: "spec.paused is true", Otherwise: &Result{
				Workload: catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}, Accepted: true, Reason: Accepted, Message: "accepted", Jobs: []string{"serviceMonitor/demo/web/0"},
			}},
		},
		"an agent": {
			manifests: monitor + owned("PrometheusAgent", "v1alpha1", "namespace: demo", "shards: 2, serviceMonitorSelector: {}, remoteWrite: [{url: 'http://a'}]"),
			want: Result{
				Accepted: true, Reason: Accepted, Jobs: []string{"serviceMonitor/demo/web/0"},
				Shards: []string{"each target is scraped by one of the shards 0 to 1, chosen by the hash of __address__"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, question(t, "servicemonitor", tc.manifests, tc.opts), tc.configs, tc.want, tc.misses...)
		})
	}
}

// TestUnwatchedWithoutWorkload: without a workload, the flag is named that leaves out the namespace of the object.
func TestUnwatchedWithoutWorkload(t *testing.T) {
	report := Explain(question(t, "servicemonitor", monitor, engine.Options{}), namespaces(t, "monitoring"))
	if want := []string{"the operator does not watch ServiceMonitors in namespace demo (--namespaces)"}; !slices.Equal(report.Findings, want) {
		t.Errorf("got %q, want %q", report.Findings, want)
	}
}

func TestPrometheusRule(t *testing.T) {
	good, bad := strings.Replace(alerts, "EXPR", "up", 1), strings.Replace(alerts, "EXPR", "'up('", 1)
	agent := owned("PrometheusAgent", "v1alpha1", "namespace: demo", "serviceMonitorSelector: {}")
	for name, tc := range map[string]struct {
		manifests string
		want      Result
	}{
		"accepted":      {good + server("demo", "ruleSelector: {}"), Result{Accepted: true, Reason: Accepted, RuleFile: "demo-web-abc.yaml"}},
		"rejected":      {bad + server("demo", "ruleSelector: {}"), Result{Reason: Rejected, Message: "spec.groups[0].rules[0].expr: "}},
		"not selected":  {good + server("demo", "ruleSelector: {matchLabels: {a: b}}"), Result{Reason: LabelsNotSelected, Selector: "spec.ruleSelector"}},
		"not by agents": {good + agent, Result{Reason: KindNotSupported, Message: "PrometheusAgent does not select PrometheusRules"}},
	} {
		t.Run(name, func(t *testing.T) {
			misses := []string{}
			if tc.want.Selector != "" {
				misses = append(misses, "a=b, but there is no label a")
			}
			check(t, question(t, "promrule", tc.manifests, engine.Options{}), informer.Namespaces{}, tc.want, misses...)
		})
	}
}

// TestUnwrittenConfiguration: if users write the configuration themselves, nothing in the spec says
// where alerts are sent.
func TestUnwrittenConfiguration(t *testing.T) {
	rule := demo + owned("PrometheusRule", "v1", "namespace: demo", "groups: [{name: a, rules: [{alert: A, expr: up}]}]")
	const to = "alerting: {alertmanagers: [{namespace: demo, name: am, port: web}]}"
	for spec, want := range map[string]string{
		"ruleSelector: {}, " + to:                             "not evaluated or sent, unless the configuration that you write names this file and an Alertmanager",
		"ruleSelector: {}, serviceMonitorSelector: {}, " + to: `sent to Service "am" in namespace demo, and in its endpoints the port named "web"`,
	} {
		q := question(t, "promrule", strings.Replace(rule, "name: main", "name: web", 1)+server("demo", spec), engine.Options{})
		if v := Explain(q, informer.Namespaces{}).Workloads[0]; !v.Accepted || !slices.Equal(v.Alerts, []string{want}) {
			t.Errorf("%s: %q, want %q", spec, v.Alerts, want)
		}
	}
}

// TestLooksFor: LooksFor is read from the compiled jobs, so it respects a workload that ignores
// fields of the object.
func TestLooksFor(t *testing.T) {
	const account = "ServiceAccount demo/default, which must list and watch "
	monitor := func(spec string) string {
		return demo + owned("ServiceMonitor", "v1", "namespace: demo", spec)
	}
	pods := func(spec string) string { return demo + owned("PodMonitor", "v1", "namespace: demo", spec) }
	config := func(spec string) string { return demo + owned("ScrapeConfig", "v1alpha1", "namespace: demo", spec) }
	probe := func(spec string) string {
		return demo + owned("Probe", "v1", "namespace: demo", "prober: {url: 'blackbox:9115'}, targets: {"+spec+"}")
	}
	for name, tc := range map[string]struct {
		kind, object, server string
		looks, as            []string
	}{
		"a port": {"servicemonitor", monitor("selector: {matchLabels: {app: web}}, endpoints: [{port: http}]"), "",
			[]string{`Services in namespace demo with label app=web, and in their endpoints the port named "http"`}, []string{account + "services, endpoints and pods in namespace demo"}},
		"a container port": {"servicemonitor", monitor("selector: {matchLabels: {app: web, tier: a}}, endpoints: [{targetPort: 80}, {targetPort: http}]"), "serviceDiscoveryRole: EndpointSlice",
			[]string{"Services in namespace demo with labels app=web,tier=a, and of their pods the container port 80", `Services in namespace demo with labels app=web,tier=a, and of their pods the container port named "http"`},
			[]string{account + "services, endpoints and pods in namespace demo"}}, // the test cluster has no EndpointSlices
		"all namespaces": {"servicemonitor", monitor("selector: {}, namespaceSelector: {any: true}, endpoints: [{}]"), "",
			[]string{"Services in all namespaces, and in their endpoints every port"}, []string{account + "services, endpoints and pods in all namespaces"}},
		"all namespaces, ignored": {"servicemonitor", monitor("selector: {}, namespaceSelector: {any: true}, endpoints: [{port: http}]"), "ignoreNamespaceSelectors: true",
			[]string{`Services in namespace demo, and in their endpoints the port named "http"`}, []string{account + "services, endpoints and pods in namespace demo"}},
		"metadata of nodes": {"podmonitor", pods("selector: {}, namespaceSelector: {matchNames: [a, b]}, attachMetadata: {node: true}, podMetricsEndpoints: [{portNumber: 80}, {}]"), "",
			[]string{"Pods in namespaces a and b, and of them the container port 80", "Pods in namespaces a and b, and of them every port"}, []string{account + "pods in namespaces a and b, and nodes"}},
		"another cluster": {"podmonitor", pods("selector: {}, podMetricsEndpoints: [{port: a}]"), "apiserverConfig: {host: 'https://other'}",
			[]string{`Pods in namespace demo of another cluster, and of them the container port named "a"`}, nil},
		"Ingresses": {"probe", probe("ingress: {selector: {matchExpressions: [{key: a, operator: Exists}]}}"), "",
			[]string{"Ingresses in namespace demo with label a"}, []string{account + "ingresses in namespace demo"}},
		"static targets": {"probe", probe("staticConfig: {static: ['https://user:hunter2@a', b]}"), "", []string{"2 static targets"}, nil},
		"several discoveries": {"scrapeconfig", config("kubernetesSDConfigs: [{role: Node}, {role: Pod, namespaces: {ownNamespace: true}, selectors: [{role: Pod, label: 'a in (b,c)'}]}], consulSDConfigs: [{server: a}]"), "",
			[]string{"Nodes", "Pods in namespace demo with label a in (b,c), and of them every port", "what consul_sd_configs finds"}, []string{account + "nodes", account + "pods in namespace demo"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := strings.Replace(tc.object, "name: main", "name: web", 1)
			all := "serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}"
			q := question(t, tc.kind, object+server("demo", strings.Trim(all+", "+tc.server, ", ")), engine.Options{})
			v := Explain(q, informer.Namespaces{}).Workloads[0]
			if !v.Accepted {
				t.Fatal(v.Message)
			}
			if diff := cmp.Diff(tc.looks, v.LooksFor) + cmp.Diff(tc.as, v.As); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// check compares the only result. want.Message may be a substring.
func check(t *testing.T, q Question, configs informer.Namespaces, want Result, misses ...string) {
	t.Helper()
	r := Explain(q, configs)
	if len(r.Workloads) != 1 {
		t.Fatalf("%d results", len(r.Workloads))
	}
	got := r.Workloads[0]
	for _, v := range []*Result{&got, got.Otherwise} {
		if v != nil {
			v.LooksFor, v.As = nil, nil // see TestLooksFor
		}
	}
	if !strings.Contains(got.Message, want.Message) {
		t.Errorf("message %q has no %q", got.Message, want.Message)
	}
	var told []string
	for _, m := range got.Misses {
		told = append(told, m.String())
	}
	if !slices.Equal(told, misses) {
		t.Errorf("it requires %q, want %q", told, misses)
	}
	got.Workload, got.Message, want.Message, got.Misses = catalog.Ref{}, "", "", nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Unknown() || r.Accepted() == 1 != want.Accepted {
		t.Errorf("%d accept it; unknown: %v", r.Accepted(), r.Unknown())
	}
}

func namespaces(t *testing.T, names ...string) informer.Namespaces {
	t.Helper()
	out, err := informer.NewNamespaces(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unread is an [assets.Reader] whose reads all fail.
type unread struct{}

func (unread) Object(ref assets.Ref) (assets.Object, error) {
	return assets.Object{}, &assets.ReadError{Ref: ref, Err: errors.New("no answer")}
}

// If a Secret cannot be read, the result is unknown.
func TestUnknown(t *testing.T) {
	q := question(t, "smon", strings.Replace(monitor, "{port: http}", "{port: http, basicAuth: {username: {name: login, key: user}}}", 1)+server("demo", "serviceMonitorSelector: {}"), engine.Options{})
	q.References, q.Workloads[0].Results = unread{}, nil // as in a cluster
	r := Explain(q, informer.Namespaces{})
	if got := r.Workloads[0]; got.Reason != NotKnown || got.Accepted || !r.Unknown() || !strings.Contains(got.Message, "no answer") {
		t.Errorf("got %+v", got)
	}
}

// A failed reconciliation in the status of an accepting workload is reported as trouble.
func TestTrouble(t *testing.T) {
	stuck := strings.TrimSuffix(server("demo", "serviceMonitorSelector: {}"), "---\n") + `
status: {conditions: [{type: Reconciled, status: "False", message: no space, lastTransitionTime: "2026-01-01T00:00:00Z"}]}
`
	got := Explain(question(t, "smon", monitor+stuck, engine.Options{}), informer.Namespaces{}).Workloads[0]
	if !got.Accepted || !strings.HasSuffix(got.Trouble, ": no space") {
		t.Errorf("got %+v", got)
	}
}

// Remarks about the object and about the workload are reported for a cluster too.
func TestRemarks(t *testing.T) {
	steps := "{port: http, metricRelabelings: [{action: keep, sourceLabels: [__name__], regex: a}, {action: keep, sourceLabels: [__name__], regex: b}]}"
	q := question(t, "smon", strings.Replace(monitor, "{port: http}", steps, 1)+server("demo", "shards: 0, serviceMonitorSelector: {}"), engine.Options{})
	var got []string
	for _, h := range Explain(q, informer.Namespaces{}).Workloads[0].Hints {
		got = append(got, h.String())
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "spec.endpoints[0].metricRelabelings[1]: keep after keep") ||
		!strings.HasPrefix(got[1], "Prometheus demo/main: spec.shards: 0 is below one") {
		t.Errorf("got %q", got)
	}
}

func TestAcceptingOnesComeFirst(t *testing.T) {
	var manifests strings.Builder
	manifests.WriteString(monitor)
	for name, selector := range map[string]string{"a": "{matchLabels: {app: api}}", "b": "{}", "c": "null", "d": "{}"} {
		manifests.WriteString(strings.Replace(server("demo", "serviceMonitorSelector: "+selector), "name: main", "name: "+name, 1))
	}
	r := Explain(question(t, "smon", manifests.String(), engine.Options{}), informer.Namespaces{})
	var order []string
	for _, v := range r.Workloads {
		order = append(order, v.Workload.Name)
	}
	if diff := cmp.Diff([]string{"b", "d", "a", "c"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestParseName(t *testing.T) {
	for kind, want := range map[string]string{
		"servicemonitor": "ServiceMonitor", "ServiceMonitor": "ServiceMonitor", "smon": "ServiceMonitor", "podmonitors": "PodMonitor",
		"probes.monitoring.coreos.com": "Probe", "scrapeconfigs.v1alpha1.monitoring.coreos.com": "ScrapeConfig", "promrule": "PrometheusRule",
	} {
		if n, err := ParseName(Kinds(setups(engine.Options{})), kind, "demo/web"); err != nil || n.String() != want+" demo/web" {
			t.Errorf("%s: %q, %v", kind, n, err)
		}
	}
	for _, bad := range [][2]string{{"prometheus", "a/b"}, {"secret", "a/b"}, {"", "a/b"}, {"smon", "web"}, {"smon", "/web"}, {"smon", "a/b/c"}} {
		if _, err := ParseName(Kinds(setups(engine.Options{})), bad[0], bad[1]); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
}

func TestNotAmongTheManifests(t *testing.T) {
	q := question(t, "smon", monitor, engine.Options{})
	objects := manifests.Only(q.Row, q.Object)
	for kind, want := range map[string]string{
		"smon": "no ServiceMonitor demo/api among the manifests (they hold demo/web)",
		"prb":  "no Probe demo/api among the manifests (they hold no Probe)",
	} {
		name, err := ParseName(Kinds(setups(engine.Options{})), kind, "demo/api")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromManifests(objects, nil, q.Setups, name); err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}

// TestSkippedTemplate: the error names skipped template files, because one may hold the object.
func TestSkippedTemplate(t *testing.T) {
	dir := t.TempDir()
	template := filepath.Join(dir, "rule.yaml")
	text := "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: demo}\nspec: {groups: {{ .Values.groups }}}\n"
	if err := os.WriteFile(template, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all := setups(engine.Options{})
	objects, faults := manifests.LoadAll([]string{dir}, Kinds(all))
	check := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), template+": skipped as not meant to be a manifest") {
			t.Errorf("err = %v", err)
		}
	}
	rule, ruleErr := ParseName(Kinds(all), "promrule", "demo/web")
	server, serverErr := ParseAnyName(Kinds(all), "prometheus", "demo/web")
	if err := errors.Join(ruleErr, serverErr); err != nil {
		t.Fatal(err)
	}
	_, err := FromManifests(objects, faults, all, rule)
	check(err, "no PrometheusRule demo/web")
	_, err = Workload(objects, faults, Kinds(all), server)
	check(err, "no Prometheus demo/web")
}
