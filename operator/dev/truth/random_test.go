package truth

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// random generates scenarios from few names, so that selectors often match.
type random struct {
	*rand.Rand
	t *testing.T
	// prefix begins the names of its namespaces.
	prefix string
}

func (r random) of(words ...string) string { return words[r.IntN(len(words))] }

// maybe returns the text with probability 1/n, and "" otherwise.
func (r random) maybe(n int, text string) string {
	if r.IntN(n) > 0 {
		return ""
	}
	return text
}

// list joins the texts that are not empty.
func list(texts ...string) string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// some returns up to n texts.
func (r random) some(n int, make func() string) string {
	var out []string
	for range r.IntN(n + 1) {
		out = append(out, make())
	}
	return strings.Join(out, ", ")
}

func (r random) read(into any, format string, args ...any) {
	r.t.Helper()
	text := fmt.Sprintf(format, args...)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		r.t.Fatalf("%v\n%s", err, text)
	}
}

// own returns the namespace of the workload.
func (r random) own() string { return r.prefix + "monitoring" }

// namespaces returns the namespaces of the scenario.
func (r random) namespaces() []string {
	return []string{r.prefix + "alpha", r.prefix + "beta", r.own()}
}

func (r random) namespace() string { return r.of(r.namespaces()...) }
func (r random) app() string       { return r.of("web", "db", "job-a") }
func (r random) port() string      { return r.of("http", "metrics", "admin") }

// cluster returns objects in three namespaces.
func (r random) cluster() (out []discoverytest.Object) {
	add := func(object discoverytest.Object, format string, args ...any) {
		r.t.Helper()
		r.read(object, format, args...)
		out = append(out, object)
	}
	for i, ns := range r.namespaces() {
		add(&corev1.Namespace{}, `{metadata: {name: %s, labels: {kubernetes.io/metadata.name: %s, team: %s}}}`, ns, ns, r.of("a", "b"))
		for k, app := range []string{"web", "db", "job-a"} {
			if r.IntN(5) == 0 {
				continue
			}
			r.application(add, ns, app, fmt.Sprintf("10.%d.%d", i, k))
		}
		if r.IntN(2) == 0 {
			add(&networkingv1.Ingress{}, `{metadata: {namespace: %s, name: front, labels: {app: web}, annotations: {a.b/c: x}}, spec: {ingressClassName: n, %s rules: [{host: %s, http: {paths: [{path: /, pathType: Prefix}, {path: /admin, pathType: Exact}]}}, {host: "*.example.com"}]}}`,
				ns, r.maybe(2, "tls: [{hosts: [web.example.com]}],"), r.of("web.example.com", "shop.example.com"))
		}
	}
	return out
}

// nodes returns the nodes that all scenarios share.
func (r random) nodes() (out []discoverytest.Object) {
	for i, zone := range []string{"a", "b", "c"} {
		node := &corev1.Node{}
		r.read(node, `{metadata: {name: n%d, labels: {topology.kubernetes.io/zone: %s, kubernetes.io/os: %s}}, spec: {providerID: "x://%d"}, status: {addresses: [{type: InternalIP, address: 10.9.0.%d}, {type: Hostname, address: n%d}], conditions: [{type: Ready, status: 'True'}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}}`,
			i, zone, r.of("linux", "windows"), i, i, i)
		out = append(out, node)
	}
	return out
}

// application adds a Service with its pods, Endpoints and EndpointSlices.
func (r random) application(add func(discoverytest.Object, string, ...any), ns, app, net string) {
	ports := r.of("[{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]", "[{name: http, containerPort: 8080}]", "[{containerPort: 9090}]", "[]")
	var addresses, ready, notReady []string
	for i := range r.IntN(5) {
		name, ip, node, phase := fmt.Sprintf("%s-%d", app, i), fmt.Sprintf("%s.%d", net, i), fmt.Sprintf("n%d", r.IntN(3)), r.of("Running", "Running", "Running", "Pending", "Succeeded", "Failed")
		isReady := r.IntN(4) > 0
		zone := r.of("a", "b", "c")
		status := fmt.Sprintf("phase: %s, hostIP: 10.9.0.1, conditions: [{type: Ready, status: '%v'}]", phase, map[bool]string{true: "True", false: "False"}[isReady])
		if phase != "Pending" {
			status += ", podIP: " + ip + ", podIPs: [{ip: " + ip + "}]"
		}
		add(&corev1.Pod{}, `{metadata: {namespace: %s, name: %s, uid: %s-%s, labels: {%s}, annotations: {%s}, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s-abc, uid: u, controller: true}]}, spec: {nodeName: %s, containers: [{name: server, image: "i:1", ports: %s}%s], initContainers: [%s]}, status: {%s}}`,
			ns, name, ns, name, list("app: "+app, r.maybe(2, "tier: "+r.of("front", "back")), "topology.kubernetes.io/zone: "+zone), list(r.maybe(2, "prometheus.io/scrape: 'true'"), r.maybe(2, `note: "two\nlines"`)),
			r.of("ReplicaSet", "StatefulSet", "Job"), app, node, ports, r.maybe(3, ", {name: proxy, image: p, ports: [{name: admin, containerPort: 15090, protocol: "+r.of("TCP", "UDP")+"}]}"),
			r.sidecar(), status)
		if phase == "Pending" || phase == "Succeeded" || phase == "Failed" && r.IntN(2) == 0 {
			continue
		}
		ref := fmt.Sprintf("kind: Pod, namespace: %s, name: %s", ns, name)
		if r.IntN(8) == 0 {
			ref = r.of("kind: Node, name: "+node, "kind: Pod, namespace: "+ns+", name: gone")
		}
		addresses = append(addresses, fmt.Sprintf("{addresses: [%s], conditions: {ready: %v, serving: %v, terminating: %v}, targetRef: {%s}, nodeName: %s, zone: %s}", ip, isReady, isReady, r.IntN(9) == 0, ref, node, zone))
		address := fmt.Sprintf("{ip: %s, nodeName: %s, targetRef: {%s}}", ip, node, ref)
		if isReady {
			ready = append(ready, address)
		} else {
			notReady = append(notReady, address)
		}
	}
	servicePorts := r.of("[{name: http, port: 80, targetPort: 8080}, {name: metrics, port: 9090}]", "[{name: http, port: 8080}]", "[{port: 9090}]")
	backends := strings.ReplaceAll(servicePorts, "port: 80, targetPort: 8080", "port: 8080")
	labels := list("app: "+app, r.maybe(3, "release: r1"), r.maybe(4, "tier: ''"))
	if r.IntN(8) > 0 {
		add(&corev1.Service{}, `{metadata: {namespace: %s, name: %s, labels: {%s}, annotations: {%s}}, spec: {%s type: ClusterIP, clusterIP: %s, selector: {app: %s}, ports: %s}}`,
			ns, app, labels, r.maybe(2, "prometheus.io/port: '9090'"), r.maybe(4, "ipFamilyPolicy: PreferDualStack, ipFamilies: ["+r.of("IPv4, IPv6", "IPv6, IPv4")+"],"), r.of("10.8.0.1", "None"), app, servicePorts)
	}
	//lint:ignore SA1019 jobs discover this kind by default
	add(&corev1.Endpoints{}, `{metadata: {namespace: %s, name: %s, labels: {%s}}, subsets: [{addresses: [%s], notReadyAddresses: [%s], ports: %s}]}`,
		ns, app, labels, strings.Join(ready, ", "), strings.Join(notReady, ", "), backends)
	for i, part := range [][]string{addresses[:len(addresses)/2], addresses[len(addresses)/2:]} {
		slice := &discoveryv1.EndpointSlice{}
		add(slice, `{metadata: {namespace: %s, name: %s-%d, labels: {%s}}, addressType: IPv4, endpoints: [%s], ports: %s}`,
			ns, app, i, list("kubernetes.io/service-name: "+app, labels), strings.Join(part, ", "), backends)
		for i := range slice.Ports { // defaults of the API server; old releases panic without them
			port := &slice.Ports[i]
			port.Protocol = new(corev1.ProtocolTCP)
			if port.Name == nil {
				port.Name = new("")
			}
		}
	}
}

// sidecar returns an init container that keeps running.
func (r random) sidecar() string {
	return r.maybe(3, "{name: side, image: s, restartPolicy: Always, ports: [{name: admin, containerPort: 7000}]}")
}

// step returns a relabeling step.
func (r random) step() string {
	meta := r.of("__meta_kubernetes_namespace", "__meta_kubernetes_pod_name", "__meta_kubernetes_pod_label_tier", "__meta_kubernetes_pod_node_name", "__address__",
		"__meta_kubernetes_pod_phase", "__meta_kubernetes_pod_annotation_note", "__meta_kubernetes_pod_container_init", "__meta_kubernetes_endpointslice_endpoint_zone", "__meta_kubernetes_service_annotation_prometheus_io_port", "__meta_kubernetes_pod_controller_kind", "__meta_kubernetes_pod_ready", "namespace", "pod", "job")
	regex := r.of("(.+)", ".*a.*", "alpha|web-0|Running", "", "true")
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("{action: keep, sourceLabels: [%s], regex: '%s'}", meta, r.of("(.+)", "(.*)", regex))
	case 1:
		return fmt.Sprintf("{action: drop, sourceLabels: [%s], regex: '%s'}", meta, r.of("", ".*b.*", "beta|Failed"))
	case 2:
		return "{action: labelmap, regex: '__meta_kubernetes_" + r.of("pod_label_(.+)", "pod_container_(.+)", "endpointslice_endpoint_(.+)", "node_condition_(.+)") + "', replacement: 'pod_$1'}"
	case 3:
		return fmt.Sprintf("{action: labeldrop, regex: '%s'}", r.of("pod|container", "endpoint", "pod_.*", "__address__", "__tmp_hash"))
	case 4:
		return fmt.Sprintf("{targetLabel: %s, replacement: %s}", r.of("__tmp_hash", "__tmp_disable_sharding", "__metrics_path__", "__scheme__", "cluster"), r.of("x", "/other", "https", ""))
	case 5:
		return "{sourceLabels: [__address__], regex: '([^:]+)(?::\\d+)?', targetLabel: __address__, replacement: '$1:9999'}"
	case 6:
		return fmt.Sprintf("{sourceLabels: [%s], targetLabel: %s}", meta, r.of("instance", "a", "__tmp_hash", "job"))
	}
	return fmt.Sprintf("{sourceLabels: [%s, __meta_kubernetes_namespace], separator: /, targetLabel: %s, regex: '%s'}", meta, r.of("a", "b"), r.of("(.+)/(.+)", "(.*)"))
}

func (r random) selector() string {
	return r.of("{}", "{matchLabels: {app: "+r.app()+"}}", "{matchLabels: {app: web}}", "{matchExpressions: [{key: app, operator: In, values: [web, db]}]}",
		"{matchExpressions: [{key: tier, operator: "+r.of("Exists", "DoesNotExist")+"}]}", "{matchExpressions: [{key: app, operator: NotIn, values: [db]}]}")
}

func (r random) namespaceSelector() string {
	return r.of("", "", "namespaceSelector: {any: true}", "namespaceSelector: {matchNames: ["+r.prefix+"alpha, "+r.own()+"]}", "namespaceSelector: {matchNames: [none]}")
}

// endpoint returns endpoint fields that all kinds of monitors have.
func (r random) endpoint() string {
	return list(r.maybe(3, "path: /m"), r.maybe(4, "scheme: "+r.of("https", "http")), r.maybe(4, "params: {q: [a, b]}"), r.maybe(4, "interval: 15s, scrapeTimeout: 5s"),
		r.maybe(2, "relabelings: ["+r.some(3, r.step)+"]"), r.maybe(6, "filterRunning: false"))
}

// spec returns spec fields that all kinds of monitors have.
func (r random) spec() string {
	return list("selector: "+r.selector(), r.namespaceSelector(), r.maybe(4, "podTargetLabels: [tier]"), r.maybe(4, "attachMetadata: {node: true}"),
		r.maybe(5, "jobLabel: app"), r.maybe(8, "targetLimit: 2"), r.maybe(5, "selectorMechanism: RoleSelector"), r.maybe(4, "scrapeClass: zone"))
}

// workload returns a workload with monitors of all kinds.
func (r random) workload(features ...string) *input {
	w := &input{prometheus: &v1.Prometheus{}, endpointSlices: true, podTopology: r.IntN(2) == 0}
	shards := 1 + r.IntN(3)
	r.read(w.prometheus, `{metadata: {namespace: %s, name: k8s}, spec: {%s}}`, r.own(), list(
		fmt.Sprintf("shards: %d", shards), "scrapeInterval: 30s",
		r.maybe(3, "serviceDiscoveryRole: EndpointSlice"), r.maybe(4, "enforcedNamespaceLabel: ns"), r.maybe(4, "podTargetLabels: [app]"),
		r.maybe(6, "ignoreNamespaceSelectors: true"), r.maybe(6, "enforcedTargetLimit: 4"),
		r.maybe(4, "shardingStrategy: {mode: Topology, topology: {values: ["+strings.Join([]string{"a", "b", "c"}[:shards], ", ")+"]}}"),
		"scrapeClasses: [{name: zone, relabelings: [{sourceLabels: [__meta_kubernetes_node_label_topology_kubernetes_io_zone], targetLabel: zone}], attachMetadata: {node: true}}]"))
	w.prometheus.Spec.EnableFeatures = features
	for i := range 4 {
		service, pod, probe, scrape := &v1.ServiceMonitor{}, &v1.PodMonitor{}, &v1.Probe{}, &v1alpha1.ScrapeConfig{}
		head := fmt.Sprintf("metadata: {namespace: %s, name: m%d}", r.namespace(), i)
		r.read(service, `{%s, spec: {%s}}`, head, list(r.spec(), r.maybe(4, "targetLabels: [release]"), "endpoints: ["+r.serviceEndpoint()+r.maybe(3, ", "+r.serviceEndpoint())+"]"))
		r.read(pod, `{%s, spec: {%s}}`, head, list(r.spec(), "podMetricsEndpoints: [{"+list(r.of("", "port: "+r.port(), "portNumber: 8080"), r.endpoint())+"}]"))
		r.read(probe, `{%s, spec: {%s}}`, head, list("prober: {url: prober:9115}", r.maybe(3, "module: m"), r.maybe(8, "targetLimit: 1"), "targets: {"+r.probeTargets()+"}"))
		r.read(scrape, `{%s, spec: {%s}}`, head, r.scrapeConfig())
		w.services, w.pods, w.probes, w.scrapes = append(w.services, service), append(w.pods, pod), append(w.probes, probe), append(w.scrapes, scrape)
	}
	return w
}

func (r random) serviceEndpoint() string {
	return "{" + list(r.of("", "port: "+r.port(), "port: http", "targetPort: 8080", "targetPort: metrics"), r.endpoint()) + "}"
}

func (r random) probeTargets() string {
	relabelings := "relabelingConfigs: [" + r.some(2, r.step) + "]"
	if r.IntN(2) == 0 {
		return "staticConfig: {" + list("static: ["+r.of("a", "'https://b.example.com/x'", "a, b, a")+"]", "labels: {k: v}", relabelings) + "}"
	}
	return "ingress: {" + list("selector: "+r.selector(), r.namespaceSelector(), relabelings) + "}"
}

func (r random) scrapeConfig() string {
	var discoveries string
	switch r.IntN(4) {
	case 0:
		discoveries = "staticConfigs: [{targets: ['a:1', 'b:2', 'a:1'], labels: {k: v}}, {targets: ['" + r.of("c:3", "d", "[::1]:4") + "']}]"
	default:
		discoveries = "kubernetesSDConfigs: [" + r.kubernetesSD() + r.maybe(3, ", "+r.kubernetesSD()) + "]"
	}
	return list(discoveries, r.maybe(2, "relabelings: ["+r.some(3, r.step)+"]"), r.maybe(6, "targetLimit: 3"), r.maybe(4, "jobName: renamed"), r.maybe(4, "metricsPath: /x"))
}

func (r random) kubernetesSD() string {
	role := r.of("Pod", "Service", "Endpoints", "EndpointSlice", "Node", "Ingress")
	var selectors, metadata string
	switch role {
	case "Pod", "Endpoints", "EndpointSlice":
		metadata = r.maybe(3, "attachMetadata: {node: true}")
		selectors = r.maybe(3, "selectors: [{role: Pod, "+r.of("label: app=web", "label: 'app!=web', field: status.phase=Running", "field: 'spec.nodeName!=n1'", "field: spec.nodeName=n0")+"}]")
	case "Service":
		selectors = r.maybe(3, "selectors: [{role: Service, label: 'app in (web,db)'}]")
	}
	return "{" + list("role: "+role, r.of("", "namespaces: {names: ["+r.prefix+"alpha, none]}", "namespaces: {ownNamespace: true}", "namespaces: {ownNamespace: true, names: ["+r.prefix+"beta, "+r.own()+"]}"), selectors, metadata) + "}"
}
