package chaos

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// Scenario is a cycle of changes: after its last step, everything is as before the first.
type Scenario struct {
	Name  string // also of its namespace and its operator
	About string
	Base  string // manifests that exist before the first step
	Steps []Step
}

// Step is one change by users.
type Step struct {
	Name   string
	Apply  string // manifests
	Remove []Object
}

// Object is a reference to an object.
type Object struct{ Resource, Name string }

// Scenarios returns all scenarios. Manifests have NAMESPACE and ID instead of the namespace and the ID of the operator.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name: "everything", About: "all objects are created from nothing, and deleted",
			Steps: []Step{
				{Name: "create", Apply: whole()},
				{Name: "delete", Remove: append(referencesOf(whole()), claims...)},
			},
		},
		{
			Name: "changes", About: "each kind of object is changed, and changed back",
			Base: whole(), Steps: changes(),
		},
		{
			Name: "deletions", About: "each kind of object is deleted, and recreated",
			Base: whole(), Steps: deletions(),
		},
		{
			Name: "shards", About: "a Prometheus gets more and fewer shards",
			Base: join(secret, with(prometheus, "shards: 2", "shards: 1"), serviceMonitor, podMonitor, rules("small", 1, 0)),
			Steps: []Step{
				{Name: "1 to 3", Apply: with(prometheus, "shards: 2", "shards: 3")},
				{Name: "3 to 2", Apply: prometheus, Remove: claims[2:3]},
				{Name: "2 to 1", Apply: with(prometheus, "shards: 2", "shards: 1"), Remove: claims[1:2]},
			},
		},
		{
			Name: "recreations", About: "immutable fields of StatefulSets change, so that they are recreated around their pods and PVCs",
			Base: join(secret, prometheus, serviceMonitor, rules("small", 1, 0), alertmanager, alertmanagerConfig("team", "a")),
			Steps: []Step{
				{Name: "storage of a Prometheus", Apply: with(prometheus, "metadata: {labels: {team: a}}", "metadata: {labels: {team: b}}")},
				{Name: "storage of a Prometheus, back", Apply: prometheus},
				{Name: "pod management of an Alertmanager", Apply: with(alertmanager, "podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady")},
				{Name: "pod management of an Alertmanager, back", Apply: alertmanager},
				{Name: "storage and monitors at once", Apply: join(with(prometheus, "metadata: {labels: {team: a}}", "metadata: {labels: {team: b}}"), with(serviceMonitor, "port: http", "port: other"))},
				{Name: "storage and monitors at once, back", Apply: join(prometheus, serviceMonitor)},
			},
		},
	}
}

// claims are those of the StatefulSets of whole, which Kubernetes keeps for the user.
var claims = []Object{
	{"persistentvolumeclaims", "prometheus-web-db-prometheus-web-0"},
	{"persistentvolumeclaims", "prometheus-web-db-prometheus-web-shard-1-0"},
	{"persistentvolumeclaims", "prometheus-web-db-prometheus-web-shard-2-0"},
}

func changes() (out []Step) {
	toggle := func(name, from, to string) {
		out = append(out, Step{Name: name, Apply: to}, Step{Name: name + ", back", Apply: from})
	}
	toggle("ServiceMonitor", serviceMonitor, with(serviceMonitor, "port: http", "port: other"))
	toggle("PodMonitor", podMonitor, with(podMonitor, "port: http", "port: other"))
	toggle("Probe", probe, with(probe, "host.example", "other.example"))
	toggle("ScrapeConfig", scrapeConfig, with(scrapeConfig, "host.example", "other.example"))
	toggle("rule in a full ConfigMap", rules("large", 5, 3), with(rules("large", 5, 3), "sum(up)", "max(up)"))
	toggle("rules that need more ConfigMaps than are mounted", rules("large", 5, 3), rules("large", 5, 5))
	toggle("AlertmanagerConfig", alertmanagerConfig("team", "a"), alertmanagerConfig("team", "b"))
	toggle("referenced Secret", secret, with(secret, "password: first", "password: second"))
	toggle("Prometheus, not its pods", prometheus, with(prometheus, "scrapeInterval: 30s", "scrapeInterval: 20s"))
	toggle("Prometheus and its pods", prometheus, with(prometheus, "cpu: 100m", "cpu: 200m"))
	toggle("Alertmanager and its pods", alertmanager, with(alertmanager, "cpu: 100m", "cpu: 200m"))
	toggle("ThanosRuler and its pods", thanosRuler, with(thanosRuler, "cpu: 100m", "cpu: 200m"))
	return out
}

func deletions() (out []Step) {
	for _, d := range []struct {
		name, manifest string
		more           []Object
	}{
		{name: "ServiceMonitor", manifest: serviceMonitor},
		{name: "PodMonitor", manifest: podMonitor},
		{name: "Probe", manifest: probe},
		{name: "ScrapeConfig", manifest: scrapeConfig},
		{name: "PrometheusRule", manifest: rules("small", 1, 0)},
		{name: "AlertmanagerConfig", manifest: alertmanagerConfig("team", "a")},
		{name: "referenced Secret", manifest: secret},
		{name: "Prometheus", manifest: prometheus, more: claims[:2]},
		{name: "Alertmanager", manifest: alertmanager},
		{name: "ThanosRuler", manifest: thanosRuler},
	} {
		out = append(out,
			Step{Name: d.name, Remove: append(referencesOf(d.manifest), d.more...)},
			Step{Name: d.name + ", back", Apply: d.manifest})
	}
	return out
}

// whole returns one object of each kind, and rules that need more than one ConfigMap.
func whole() string {
	return join(secret, prometheus, alertmanager, thanosRuler, serviceMonitor, podMonitor, probe, scrapeConfig,
		rules("large", 5, 3), rules("small", 1, 0), alertmanagerConfig("team", "a"), alertmanagerConfig("other", "a"))
}

func join(manifests ...string) string { return strings.Join(manifests, "---") }

// with returns a manifest with a replacement. It panics if there is nothing to replace, because the step would change
// nothing.
func with(manifest, from, to string) string {
	if !strings.Contains(manifest, from) {
		panic(fmt.Sprintf("%q is not in %s", from, manifest))
	}
	return strings.Replace(manifest, from, to, 1)
}

// referencesOf returns the objects in manifests.
func referencesOf(manifests string) (out []Object) {
	for _, m := range strings.Split(manifests, "---") {
		field := func(name string) string {
			_, rest, _ := strings.Cut(m, name)
			return strings.TrimSpace(rest[:strings.IndexAny(rest, ",}\n")])
		}
		out = append(out, Object{trial.Resources[field("kind: ")], field("name: ")})
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(a.Resource+a.Name, b.Resource+b.Name) })
	return out
}

// ruleBytes is the size of a large rule: two fit into a ConfigMap.
const ruleBytes = 400_000

// rules returns PrometheusRules, of which the first ones are large.
func rules(name string, count, large int) string {
	var out []string
	for i := range count {
		size := 1
		if i < large {
			size = ruleBytes
		}
		out = append(out, fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: %[1]s-%[2]d, namespace: NAMESPACE, labels: {size: %[1]s}}
spec:
  groups:
  - name: %[1]s-%[2]d
    rules:
    - {record: "%[1]s:up%[2]d", expr: sum(up)}
    - {alert: Down%[2]d, expr: up == 0, annotations: {text: "%[3]s"}}
`, name, i, strings.Repeat("x", size)))
	}
	return join(out...)
}

func alertmanagerConfig(name, group string) string {
	return fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: %[1]s, namespace: NAMESPACE}
spec:
  route: {receiver: hook, groupBy: [%[2]s]}
  receivers:
  - name: hook
    webhookConfigs: [{url: "http://%[1]s.example/"}]
`, name, group)
}

const (
	secret = `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NAMESPACE}
stringData: {user: somebody, password: first}
`
	prometheus = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: web, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  replicas: 1
  shards: 2
  scrapeInterval: 30s
  serviceMonitorSelector: {}
  podMonitorSelector: {}
  probeSelector: {}
  scrapeConfigSelector: {}
  ruleSelector: {}
  resources: {requests: {cpu: 100m}}
  storage: {volumeClaimTemplate: {metadata: {labels: {team: a}}, spec: {resources: {requests: {storage: 1Gi}}}}}
`
	alertmanager = `
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  replicas: 1
  podManagementPolicy: Parallel
  alertmanagerConfigSelector: {}
  resources: {requests: {cpu: 100m}}
`
	thanosRuler = `
apiVersion: monitoring.coreos.com/v1
kind: ThanosRuler
metadata: {name: ruler, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec:
  replicas: 1
  ruleSelector: {matchLabels: {size: small}}
  queryEndpoints: [query.example:9090]
  resources: {requests: {cpu: 100m}}
`
	serviceMonitor = `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: services, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: app}}
  endpoints:
  - port: http
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}
  - {port: admin}
`
	podMonitor = `
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: pods, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: app}}
  podMetricsEndpoints: [{port: http}]
`
	probe = `
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: site, namespace: NAMESPACE}
spec:
  prober: {url: prober.example}
  targets: {staticConfig: {static: [host.example]}}
`
	scrapeConfig = `
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: hosts, namespace: NAMESPACE}
spec:
  staticConfigs: [{targets: [host.example]}]
`
)
