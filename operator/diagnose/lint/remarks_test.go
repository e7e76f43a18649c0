package lint

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const selectsAll = anyPrometheus + "  serviceMonitorSelector: {}\n  serviceMonitorNamespaceSelector: {}\n  podMonitorSelector: {}\n  podMonitorNamespaceSelector: {}\n" +
	"  scrapeConfigSelector: {}\n  scrapeConfigNamespaceSelector: {}\n  ruleSelector: {}\n  ruleNamespaceSelector: {}\n"

// TestRemarks: valid settings with a probably unintended effect get a remark, similar ones without a problem
// get none.
func TestRemarks(t *testing.T) {
	endpoints := func(items string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n  namespaceSelector: {any: true}\n  sampleLimit: 100\n  endpoints:\n" + items
	}
	static := func(target string) string {
		return "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec:\n  staticConfigs: [{targets: ['" + target + "']}]\n"
	}
	rule := "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: app}\nspec:\n  groups:\n  - name: a\n    rules:\n    - {alert: A, expr: 'absent(up{namespace=\"kube-system\"})'}\n"
	relabel := func(steps string) string { return endpoints("  - {port: a, relabelings: [" + steps + "]}\n") }
	metric := func(steps string) string { return endpoints("  - {port: a, metricRelabelings: [" + steps + "]}\n") }
	const name = "sourceLabels: [__name__]"
	auth := endpoints("  - {port: a, basicAuth: {username: {name: web, key: user}, password: {name: web, key: password}}}\n")
	secret := func(password string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: app}\nstringData:\n  user: u\n  password: " + password + "\n"
	}
	static1 := func(targets string) string {
		return "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: web, namespace: app}\nspec: {prober: {url: 'b:9115'}, targets: {staticConfig: {static: [" + targets + "]}}}\n"
	}
	discovery := func(field string) string {
		return "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {" + field + "}\n"
	}
	level := func(name string) string {
		return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: mon, labels: {pod-security.kubernetes.io/enforce: " + name + "}}\n"
	}
	alert := func(summary string) string {
		return strings.Replace(rule, "kube-system\"})'", "kube-system\"})', annotations: {summary: '"+summary+"'}", 1)
	}
	for title, tc := range map[string]struct{ owner, object, want string }{
		"an endpoint without port":          {"", endpoints("  - {port: a}\n  - {path: /m}\n"), "spec.endpoints[1]: neither port nor targetPort is set, so every port of the Services is scraped (is there a dash too many"},
		"an interval of zero":               {"", endpoints("  - {port: a, interval: 0s}\n"), "spec.endpoints[0].interval: 0s is as if it were not set"},
		"a selector of nothing":             {"", strings.Replace(endpoints("  - {port: a}\n"), "selector: {}", "selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: NotIn, values: [b]}]}", 1), "spec.selector.matchExpressions[0]: contradicts matchLabels"},
		"no endpoints of pods":              {"", "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: web, namespace: app}\nspec: {selector: {}}\n", "spec.podMetricsEndpoints: has no items, so nothing is scraped"},
		"one that chooses":                  {"", endpoints("  - {relabelings: [{targetLabel: __address__, sourceLabels: [a]}]}\n"), ""},
		"keep after keep":                   {"", metric("{action: keep, " + name + ", regex: foo_total}, {action: keep, " + name + ", regex: bar_total}"), "spec.endpoints[0].metricRelabelings[1]: keep after keep (spec.endpoints[0].metricRelabelings[0]) on __name__ with nothing in common drops every sample; write one step with regex: foo_total|bar_total"},
		"groups of words":                   {"", metric("{action: keep, " + name + ", regex: (a|b)}, {action: Keep, " + name + ", regex: c|d}"), "drops every sample"},
		"something in common":               {"", metric("{action: keep, " + name + ", regex: a|b}, {action: keep, " + name + ", regex: b|c}"), ""},
		"patterns with nothing in common":   {"", metric("{action: keep, " + name + ", regex: node_(cpu|disk)_.*}, {action: keep, " + name + ", regex: 'node_mem.+'}"), "with nothing in common drops every sample; write one step with regex: node_(cpu|disk)_.*|node_mem.+"},
		"patterns that may meet":            {"", metric("{action: keep, " + name + ", regex: 'node_(cpu|disk)?_.*'}, {action: keep, " + name + ", regex: node__x}"), ""},
		"a pattern in any case":             {"", metric("{action: keep, " + name + ", regex: '(?i)a'}, {action: keep, " + name + ", regex: b}"), ""},
		"drop of what is kept":              {"", metric("{action: keep, " + name + ", regex: foo_a|foo_b}, {action: drop, " + name + ", regex: foo_.*}"), "metricRelabelings[1]: drop after keep (spec.endpoints[0].metricRelabelings[0]) on __name__ drops every sample"},
		"drop of some that are kept":        {"", metric("{action: keep, " + name + ", regex: foo_.*}, {action: drop, " + name + ", regex: foo_a.*}"), ""},
		"a group that is not there":         {"", metric("{sourceLabels: [job], regex: (.+)-x, targetLabel: a, replacement: $1-$2}"), "metricRelabelings[0].replacement: $2 is always empty, because there is no group 2: the regex has 1 in parentheses"},
		"a group with more in its name":     {"", metric("{sourceLabels: [job], targetLabel: a, replacement: $1_x}"), "$1_x is always empty, because there is no group 1_x: write ${1}_x"},
		"no group at all":                   {"", metric("{sourceLabels: [job], regex: a, targetLabel: a, replacement: $1}"), "$1 is always empty, because there is no group 1: the regex has none in parentheses"},
		"groups":                            {"", metric("{sourceLabels: [job], regex: '(?P<b>a)(c)', targetLabel: a, replacement: '$b-${2}:$1-$0$$x'}"), ""},
		"labelmap without a group":          {"", relabel("{action: labelmap, regex: __meta_kubernetes_pod_label_.+}"), "relabelings[0].regex: has no group in parentheses, and replacement is $1 unless it is set, so that every label gets an empty name; put the part that stays into one, such as __meta_kubernetes_pod_label_(.+)"},
		"labelmap of one label":             {"", relabel("{action: labelmap, regex: __meta_kubernetes_pod_name}"), "such as (__meta_kubernetes_pod_name)"},
		"labelmap to one label":             {"", relabel("{action: labelmap, regex: __meta_kubernetes_pod_name, replacement: pod}"), ""},
		"labelmap with the default regex":   {"", relabel("{action: labelmap}"), ""},
		"no separator in the regex":         {"", metric("{action: keep, sourceLabels: [__name__, namespace], regex: up}"), `metricRelabelings[0].regex: the values of the 2 source labels are joined with ";", and the regex matches nothing with it, so the step drops every sample`},
		"another separator":                 {"", metric("{action: drop, sourceLabels: [__name__, namespace], separator: '@', regex: 'up;a'}"), `joined with "@", and the regex matches nothing with it, so the step drops no sample`},
		"a separator in the regex":          {"", metric("{action: keep, sourceLabels: [__name__, namespace], regex: 'up;[^a]'}"), ""},
		"a regex that may match it":         {"", metric("{action: keep, sourceLabels: [__name__, namespace], regex: up\\W.*}"), ""},
		"a pattern":                         {"", metric("{action: keep, " + name + ", regex: a.*}, {action: keep, " + name + ", regex: ab}"), ""},
		"other labels":                      {"", metric("{action: keep, " + name + ", regex: a}, {action: keep, sourceLabels: [job], regex: b}"), ""},
		"a label that changes between":      {"", metric("{action: keep, " + name + ", regex: a}, {targetLabel: __name__, replacement: b}, {action: keep, " + name + ", regex: b}"), ""},
		"drop of everything":                {"", relabel("{action: drop}"), "spec.endpoints[0].relabelings[0]: drop without sourceLabels looks at an empty value, so it drops every target"},
		"keep of nothing":                   {"", relabel("{action: keep, regex: web}"), "keep without sourceLabels looks at an empty value"},
		"drop of nothing":                   {"", metric("{action: drop, regex: go_.*}"), "spec.endpoints[0].metricRelabelings[0]: drop without sourceLabels looks at an empty value, so it drops no sample; set sourceLabels: [__name__] for names of metrics"},
		"keep of everything":                {"", relabel("{action: keep}"), "keep without sourceLabels looks at an empty value, so it drops no target; set sourceLabels"},
		"drop without regex":                {"", metric("{action: drop, " + name + "}"), "drop without regex, or with an empty one, which is the same, uses (.*) and drops every sample; set regex, for an empty value ^$"},
		"no address, by labeldrop":          {"", relabel("{action: labeldrop, regex: __.*}"), "spec.endpoints[0].relabelings[0]: removes __address__ from every target"},
		"no address, by replace":            {"", relabel("{targetLabel: __address__, replacement: ''}"), "removes __address__ from every target"},
		"an address for some":               {"", relabel("{targetLabel: __address__, replacement: '', sourceLabels: [a], regex: b}"), ""},
		"labeldrop of others":               {"", relabel("{action: labeldrop, regex: __meta_.*}"), ""},
		"TLS without https":                 {"", endpoints("  - {port: a, tlsConfig: {insecureSkipVerify: true}}\n"), "spec.endpoints[0].tlsConfig: has no effect, because targets are scraped with http; set scheme: https"},
		"TLS with https":                    {"", endpoints("  - {port: a, scheme: HTTPS, tlsConfig: {insecureSkipVerify: true}}\n"), ""},
		"TLS for some":                      {"", endpoints("  - {port: a, tlsConfig: {insecureSkipVerify: true}, relabelings: [{targetLabel: __scheme__, sourceLabels: [a]}]}\n"), ""},
		"slashes":                           {"", metric("{action: keep, " + name + ", regex: /foo_.*/}"), "metricRelabelings[0].regex: matches names of metrics that begin and end with a slash, of which there are none; write foo_.*"},
		"names before the scrape":           {"", relabel("{action: drop, " + name + ", regex: a}"), "targets have no __name__, so the step drops no target; names of metrics are known after the scrape, in metricRelabelings"},
		"discovery after the scrape":        {"", metric("{sourceLabels: [__meta_kubernetes_pod_name], targetLabel: pod}"), "labels __meta_… are gone after the scrape; use relabelings"},
		"labelkeep without the name":        {"", metric("{action: labelkeep, regex: job|instance}"), "labelkeep takes the name of the metric (__name__) away from every sample, and then each scrape fails; keep it with regex: __name__|job|instance"},
		"labelkeep with the name":           {"", metric("{action: labelkeep, regex: __name__|job|instance}"), ""},
		"labeldrop of everything":           {"", metric("{action: labeldrop, regex: .*}"), "labeldrop takes the name of the metric"},
		"a target that is a URL":            {"", static("http://10.0.0.1:9100/metrics"), "spec.staticConfigs[0].targets[0]: want host:port without scheme and path, and Prometheus drops the target; write 10.0.0.1:9100, with spec.scheme: HTTP, with spec.metricsPath: /metrics"},
		"a target with a path":              {"", static("a:80/m"), "write a:80, with spec.metricsPath: /m"},
		"a target with a path that stays":   {"", static("a:80/m") + "  relabelings: [{action: keep, sourceLabels: [__address__], regex: a.*}]\n", "write a:80, with spec.metricsPath: /m"},
		"one that relabeling corrects":      {"", static("a:80/m") + "  relabelings: [{sourceLabels: [__address__], regex: (.*)/m, targetLabel: __address__}]\n", ""},
		"a target":                          {"", static("10.0.0.1:9100"), ""},
		"targets in one text":               {"", static("a:80,b:80"), "targets[0]: is one target, whose host has a comma or a blank in its name; make each address an item"},
		"no target":                         {"", "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {jobName: a}\n", "ScrapeConfig app/web: spec: has no static targets and no discovery"},
		"targets of a file that no pod has": {"", "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {fileSDConfigs: [{files: [/etc/prometheus/configmaps/a/b.json]}]}\n", "spec.fileSDConfigs[0].files[0]: no pod has /etc/prometheus/configmaps/a, because spec.configMaps of the workload does not name"},
		"a volume without size":             {"  storage: {volumeClaimTemplate: {spec: {storageClassName: a}}}\n", "", "spec.storage.volumeClaimTemplate.spec.resources.requests.storage: is not set, so the API server refuses the volume claims"},
		"a volume":                          {"  storage: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}\n", "", ""},
		"an access mode in short":           {"  storage: {volumeClaimTemplate: {spec: {accessModes: [RWO], resources: {requests: {storage: 1Gi}}}}}\n", "", `accessModes[0]: "RWO" is no access mode, and the API server refuses the volume claims; write ReadWriteOnce`},
		"a medium":                          {"  storage: {emptyDir: {medium: memory}}\n", "", `spec.storage.emptyDir.medium: "memory" is no medium, and the API server refuses the pods; write Memory`},
		"thousandths of bytes":              {"  resources: {requests: {memory: 400m}}\n", "", "spec.resources.requests.memory: 400m is less than 1 MiB"},
		"many CPUs":                         {"  resources: {limits: {cpu: 500}}\n", "", "spec.resources.limits.cpu: 500 are whole CPUs"},
		"resources":                         {"  resources: {limits: {cpu: 500m, memory: 2Gi}, requests: {memory: 400Mi}}\n", "", ""},
		"a deprecated tag":                  {"  image: 'a/b:c'\n  tag: v1\n", "", "in.yaml:15: warning: Prometheus mon/k8s: spec.tag: is deprecated, use spec.image, beside which it has no effect: remove it"},
		"a deprecated repository":           {"  baseImage: a/b\n  version: v3.1.0\n", "", "spec.baseImage: is deprecated, use spec.image ["},
		"a sidecar of another version":      {"  thanos: {image: 'a/thanos:v0.20.0'}\n", "", "spec.thanos.image: the image is of version 0.20.0, and spec.thanos.version is not set and counts as"},
		"a field with another name":         {"  version: v3.1.0\n  scrapeClassicHistograms: true\n", "", "in.yaml:15: warning: Prometheus mon/k8s: spec.scrapeClassicHistograms: global.always_scrape_classic_histograms needs Prometheus >= 3.5.0 and is left out"},
		"object storage of no kind":         {"  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", strings.ReplaceAll(secret("|\n    type: aws\n    config: {bucket: a}"), "namespace: app", "namespace: mon"), `spec.thanos.objectStorageConfig: Thanos does not start with the value of key "password" in Secret "mon/web": type is none of S3, GCS`},
		"object storage by URL":             {"  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", strings.ReplaceAll(secret("|\n    type: s3\n    config: {bucket: a, endpoint: 'https://s3'}"), "namespace: app", "namespace: mon"), "config.endpoint is a host, or host:port, without https:// and without a path"},
		"object storage a level too high":   {"  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", strings.ReplaceAll(secret("|\n    type: s3\n    bucket: a"), "namespace: app", "namespace: mon"), "bucket is no key here: it belongs below config"},
		"object storage":                    {"  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", strings.ReplaceAll(secret("|\n    type: S3\n    config: {bucket: a, endpoint: s3}\n    prefix: x"), "namespace: app", "namespace: mon"), ""},
		"an image of another version":       {"  image: quay.io/prometheus/prometheus:v2.30.0\n", "", "spec.image: the image is of version 2.30.0, and spec.version is not set and counts as 3.13.2"},
		"an image and its version":          {"  image: quay.io/prometheus/prometheus:v2.30.0-distroless@sha256:ab\n  version: v2.30.0\n", "", ""},
		"a variant of a version":            {"  image: quay.io/prometheus/prometheus:v2.30.0-distroless\n  version: v2.30.0-distroless\n", "", ""},
		"a variant of another version":      {"  image: prometheus:v2.30.0\n  version: v2.50.0-distroless\n", "", "spec.version is v2.50.0-distroless, for which"},
		"an image that says nothing":        {"  image: registry:5000/prometheus:latest\n", "", "spec.image: does not say which version it is, and spec.version is not set and counts as 3.13.2: set version to that of the image"},
		"an image by digest":                {"  image: registry:5000/prometheus@sha256:ab\n", "", "spec.image: does not say which version it is"},
		"a digest and its version":          {"  image: registry:5000/prometheus@sha256:ab\n  version: v3.1.0\n", "", ""},
		"a tag of one's own":                {"  image: registry:5000/prometheus:build-5\n", "", ""},
		"native histograms of version 2":    {"  version: v2.53.0\n  remoteWrite: [{url: 'https://a/api/v1/push', sendNativeHistograms: true}]\n", "", "spec.remoteWrite[0].sendNativeHistograms: Prometheus 2 scrapes native histograms only with the feature native-histograms"},
		"native histograms with theirs":     {"  version: v2.53.0\n  enableFeatures: [native-histograms]\n  remoteWrite: [{url: 'https://a/api/v1/push', sendNativeHistograms: true}]\n", "", ""},
		"native histograms of version 3":    {"  version: v3.9.0\n  remoteWrite: [{url: 'https://a/api/v1/push', sendNativeHistograms: true}]\n", "", ""},
		"less than a block before upload":   {"  retention: 1h\n  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", strings.ReplaceAll(secret("|\n    type: S3\n    config: {bucket: a, endpoint: s3}"), "namespace: app", "namespace: mon"), "spec.retention: the sidecar of Thanos uploads blocks of 2h once they are complete, and Prometheus deletes data after 1h"},
		"a misspelled feature":              {"  enableFeatures: [exemplars-storage]\n", "", `spec.enableFeatures[0]: Prometheus has no feature "exemplars-storage", did you mean "exemplar-storage"?`},
		"an image and another version":      {"  image: prometheus:v2.30.0\n  version: v2.50.0\n", "", "spec.version is v2.50.0, for which the configuration is written"},
		"no shards":                         {"  shards: 0\n", "", "spec.shards: 0 is below one and counts as 1"},
		"fewer replicas than none":          {"  replicas: -1\n", "", "spec.replicas: -1 is below zero and counts as 1"},
		"an API that is gone":               {"  alerting: {alertmanagers: [{name: a, port: web, apiVersion: v1}]}\n", "", "spec.alerting.alertmanagers[0].apiVersion: Prometheus >= 3.0 has v2 only"},
		"labels that are not honored":       {"  overrideHonorLabels: true\n", endpoints("  - {port: a, honorLabels: true}\n"), "spec.endpoints[0].honorLabels: ignored, because the workload sets spec.overrideHonorLabels (for Prometheus mon/k8s)"},
		"a namespaceSelector that is not":   {"  ignoreNamespaceSelectors: true\n", endpoints("  - {port: a}\n"), "spec.namespaceSelector: ignored, because the workload sets spec.ignoreNamespaceSelectors: only namespace app counts"},
		"a limit above the enforced one":    {"  enforcedSampleLimit: 50\n", endpoints("  - {port: a}\n"), "spec.sampleLimit: 100 counts as 50, because the workload sets spec.enforcedSampleLimit"},
		"a matcher that is replaced":        {"  enforcedNamespaceLabel: namespace\n", rule, `spec.groups[0].rules[0].expr: the matcher namespace="kube-system" is replaced by namespace="app"`},
		"a matcher that is not":             {"", rule, ""},
		"a label that is overwritten":       {"  enforcedNamespaceLabel: namespace\n", relabel("{targetLabel: namespace, replacement: all}"), `spec.endpoints[0].relabelings[0].targetLabel: namespace becomes "app" afterwards, because the workload sets spec.enforcedNamespaceLabel`},
		"a label of an exception":           {"  enforcedNamespaceLabel: namespace\n  excludedFromEnforcement: [{resource: servicemonitors, namespace: app}]\n", relabel("{targetLabel: namespace, replacement: all}"), ""},
		"another label":                     {"  enforcedNamespaceLabel: namespace\n", relabel("{targetLabel: team, replacement: all}"), ""},
		"a prefix of metrics":               {"", metric("{action: keep, " + name + ", regex: node_|up}"), "spec.endpoints[0].metricRelabelings[0].regex: a regex matches the whole name, and no metric is called node_: write node_.*"},
		"a prefix with the rest":            {"", metric("{action: keep, " + name + ", regex: node_.*}"), ""},
		"a prefix of another label":         {"", metric("{action: keep, sourceLabels: [pod], regex: node_}"), ""},
		"a token in the open":               {"  remoteWrite: [{url: 'http://a', bearerToken: hunter2}]\n", "", "spec.remoteWrite[0].bearerToken: everyone who may read this object reads the token; put it into a Secret"},
		"a Probe that probes nothing": {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: web, namespace: app}\n" +
			"spec: {prober: {url: 'b:9115', path: /metrics}, targets: {staticConfig: {static: [a]}}}\n", "spec.prober.path: /metrics has the metrics of the prober itself"},
		"a Probe of two addresses in one":       {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", static1("'https://a https://b'"), "spec.targets.staticConfig.static[0]: is one target with a blank in it; make each address an item of the list"},
		"a Probe with a blank before":           {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", static1("a, ' https://a'"), "spec.targets.staticConfig.static[1]: has a blank before or after it, which is part of what is probed: remove it"},
		"a Probe of a blank":                    {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", static1("' '"), "spec.targets.staticConfig.static[0]: is blank"},
		"a Probe":                               {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", static1("'https://a/?b=c,d'"), ""},
		"half of a key of AWS":                  {"", discovery("ec2SDConfigs: [{region: a, accessKey: {name: web, key: user}}]") + secret("x"), "spec.ec2SDConfigs[0].accessKey: is no credential without secretKey: set both"},
		"the other half":                        {"", discovery("lightSailSDConfigs: [{region: a, secretKey: {name: web, key: user}}]") + secret("x"), "spec.lightSailSDConfigs[0].secretKey: is no credential without accessKey"},
		"a key of AWS":                          {"", discovery("ec2SDConfigs: [{region: a, accessKey: {name: web, key: user}, secretKey: {name: web, key: password}}]") + secret("x"), ""},
		"the role of the pod":                   {"", discovery("ec2SDConfigs: [{region: a}]"), ""},
		"root and not root":                     {"  securityContext: {runAsUser: 0, runAsNonRoot: true}\n", "", "spec.securityContext.runAsUser: 0 is root, which runAsNonRoot: true forbids, so the kubelet does not start container init-config-reloader"},
		"root in one container":                 {"  securityContext: {runAsUser: 1000, runAsNonRoot: true}\n  containers: [{name: prometheus, securityContext: {runAsUser: 0}}]\n", "", "spec.containers[0].securityContext.runAsUser: 0 is root, which runAsNonRoot: true forbids, so the kubelet does not start container prometheus"},
		"targets of a file without volume":      {"", discovery("fileSDConfigs: [{files: [/etc/targets/a.yaml]}]"), "spec.fileSDConfigs[0].files[0]: no volume is mounted at /etc/targets in the pods of the workload, so there is no such file unless the image has it; name a ConfigMap in spec.configMaps of the workload, and write /etc/prometheus/configmaps/NAME/a.yaml"},
		"targets of a file that nothing mounts": {"", discovery("fileSDConfigs: [{files: [/etc/prometheus/targets/a.json]}]"), "spec.fileSDConfigs[0].files[0]: no volume is mounted at /etc/prometheus/targets in the pods of the workload, so there is no such file unless the image has it; name a ConfigMap in spec.configMaps of the workload, and write /etc/prometheus/configmaps/NAME/a.json"},
		"a CA that nothing mounts":              {"  remoteWrite: [{url: 'https://a', tlsConfig: {caFile: /etc/prometheus/tls/ca.crt}}]\n", "", "spec.remoteWrite[0].tlsConfig.caFile: no volume is mounted at /etc/prometheus/tls in the pods of the workload"},
		"a CA of the operator":                  {"  remoteWrite: [{url: 'https://a', tlsConfig: {caFile: /etc/prometheus/certs/ca.crt}}]\n", "", ""},
		"a target with a blank after":           {"", discovery("staticConfigs: [{targets: ['10.0.0.1:9100 ']}]"), "spec.staticConfigs[0].targets[0]: has a blank before or after it, which is part of the address: remove it"},
		"a target with a comma after":           {"", discovery("staticConfigs: [{targets: ['10.0.0.1:9100,']}]"), "spec.staticConfigs[0].targets[0]: has a comma before or after it"},
		"a target of blanks":                    {"", discovery("staticConfigs: [{targets: [' ']}]"), "spec.staticConfigs[0].targets[0]: has no address"},
		"targets in one":                        {"", discovery("staticConfigs: [{targets: ['a:1, b:1']}]"), "spec.staticConfigs[0].targets[0]: is one target, whose host has a comma or a blank in its name"},
		"targets of a file with its volume":     {"  volumes: [{name: a, emptyDir: {}}]\n  volumeMounts: [{name: a, mountPath: /etc/targets}]\n", discovery("fileSDConfigs: [{files: [/etc/targets/a.yaml]}]"), ""},
		"pods that a namespace refuses":         {"", level("restricted"), "spec.securityContext: namespace mon enforces the Pod Security level restricted (label pod-security.kubernetes.io/enforce), and the API server refuses pods without it: write runAsNonRoot: true, seccompProfile: {type: RuntimeDefault} [remark]"},
		"root that a namespace refuses":         {"  securityContext: {runAsUser: 0, seccompProfile: {type: Unconfined}}\n", level("restricted"), "write runAsUser: 1000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault} [remark]"},
		"pods that a namespace admits":          {"  securityContext: {runAsUser: 1000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}\n", level("restricted"), ""},
		"a container that a namespace refuses":  {"  securityContext: {runAsUser: 1000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}\n  containers: [{name: proxy, image: a}]\n", level("restricted"), "write allowPrivilegeEscalation: false and capabilities: {drop: [ALL]} in the securityContext of your containers"},
		"the network of the node":               {"  hostNetwork: true\n", level("baseline"), "enforces the Pod Security level baseline (label pod-security.kubernetes.io/enforce), and the API server refuses pods without it: write hostNetwork: false [remark]"},
		"a path of the node":                    {"  volumes: [{name: a, hostPath: {path: /a}}]\n  containers: [{name: proxy, image: a, securityContext: {privileged: true}}]\n", level("baseline"), "write no hostPath in volumes, privileged: false in container proxy"},
		"pods below baseline":                   {"", level("baseline"), ""},
		"a level that only warns":               {"", strings.Replace(level("restricted"), "enforce", "warn", 1), ""},
		"root":                                  {"  securityContext: {runAsUser: 0, runAsNonRoot: false}\n", "", ""},
		"a text that a tool has left":           {"", alert("Pod <no value> is down"), "spec.groups[0].rules[0].annotations.summary: <no value> is what a tool such as Helm made of a template that was meant for Prometheus"},
		"a password with a line break":          {"", auth + secret("|\n    s3cret"), `spec.endpoints[0].basicAuth.password.key: the value of key "password" in Secret app/web ends with a line break, which is sent as part of it`},
		"a password without":                    {"", auth + secret("s3cret"), ""},
		"replicas that look the same":           {"  replicas: 2\n  replicaExternalLabelName: ''\n  remoteWrite: [{url: 'http://a'}]\n", "", "spec.replicaExternalLabelName: is empty, so the 2 replicas send the same series to spec.remoteWrite"},
		"replicas that upload the same":         {"  replicas: 2\n  replicaExternalLabelName: ''\n  thanos: {image: 'a:v1', objectStorageConfig: {name: web, key: password}}\n", "---\n" + strings.ReplaceAll(secret("x"), "namespace: app", "namespace: mon"), "is empty, so the 2 replicas have the same external labels: the compactor of Thanos halts"},
		"one that looks like no other":          {"  replicas: 1\n  replicaExternalLabelName: ''\n  remoteWrite: [{url: 'http://a'}]\n", "", ""},
	} {
		t.Run(title, func(t *testing.T) {
			got := lines(t, selectsAll+tc.owner+tc.object)
			if tc.want == "" && !strings.Contains(got, "0 errors, 0 warnings, 0 notes") || tc.want != "" && (!strings.Contains(got, tc.want) || !strings.Contains(got, "0 errors, 1 warning, 0 notes")) {
				t.Errorf("want %q, got\n%s", tc.want, got)
			}
		})
	}
	t.Run("an agent without receiver", func(t *testing.T) {
		if got := lines(t, "apiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusAgent\nmetadata: {name: a, namespace: mon}\nspec: {serviceMonitorSelector: {}}\n"); !strings.Contains(got, "spec.remoteWrite: is not set, so what this agent scrapes is sent nowhere") {
			t.Error(got)
		}
	})
	t.Run("a ConfigMap in place of a Secret", func(t *testing.T) {
		for field, want := range map[string]string{
			"tlsConfig: {ca: {secret: {name: web, key: a}}}, scheme: https": "among the manifests; there is a ConfigMap of this name: write configMap instead of secret",
			"authorization: {credentials: {name: web, key: a}}":             "among the manifests; there is a ConfigMap of this name, and this field refers to a Secret",
		} {
			got := lines(t, selectsAll+endpoints("  - {port: a, "+field+"}\n")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: app}\ndata: {a: b}\n")
			if !strings.Contains(got, want) {
				t.Error(got)
			}
		}
	})
	t.Run("a size at the wrong level", func(t *testing.T) {
		if got := lines(t, selectsAll+"  storage: {volumeClaimTemplate: {resources: {requests: {storage: 1Gi}}}}\n"); !strings.Contains(got, "1 error, 0 warnings") {
			t.Error(got)
		}
	})
	t.Run("alerts without Alertmanager", func(t *testing.T) {
		const note = "note: Prometheus mon/k8s: spec.alerting: is not set, so the alerts of the selected rules are sent nowhere; for Alertmanager am/main write alertmanagers: [{namespace: am, name: alertmanager-operated, port: web}]"
		manager := "---\napiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: main, namespace: am}\n"
		for text, want := range map[string]bool{
			selectsAll + rule + manager: true, selectsAll + rule: false, selectsAll + manager: false,
			selectsAll + "  additionalAlertManagerConfigs: {name: a, key: b}\n" + rule + manager:                 false,
			selectsAll + "  alerting: {alertmanagers: [{namespace: am, name: a, port: web}]}\n" + rule + manager: false,
		} {
			if got := lines(t, text); strings.Contains(got, note) != want {
				t.Errorf("want %v, got\n%s", want, got)
			}
		}
	})
	t.Run("nothing is selected", func(t *testing.T) {
		if got := lines(t, anyPrometheus+"  ruleSelector: {}\n"); !strings.Contains(got, "warning: Prometheus mon/k8s: spec: spec.serviceMonitorSelector, spec.podMonitorSelector") || !strings.Contains(got, "remoteWrite, alerting, rules and all else of the spec are not in it") {
			t.Error(got)
		}
	})
}

// TestHelmQuotes: templates of alerts with the escapes of a Helm chart get a remark.
func TestHelmQuotes(t *testing.T) {
	for text, want := range map[string]int{
		"{{`{{ $labels.instance }}`}} is down":   1,
		"{{ \"{{\" }} $value {{ \"}}\" }}":       1,
		"{{ $labels.instance }} is down":         0,
		"{{ printf `%.2f` $value }} {{ `{a}` }}": 0,
	} {
		r := &v1.PrometheusRule{}
		r.Spec.Groups = []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{{Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"summary": text}}}}}
		got := 0
		alertRemarks(func(field, _ string, _ ...any) { got++ }, queriesOf(r))
		if got != want {
			t.Errorf("%s: %d remarks", text, got)
		}
	}
}

// TestAlertLabels: labels in templates that the expression aggregates away get a remark, but not if the labels of
// the result depend on the samples.
func TestAlertLabels(t *testing.T) {
	for expr, want := range map[string]string{
		`sum by (namespace) (rate(a[5m])) > 1`: "has the label namespace only; add pod to by",
		`1 < (sum by (namespace, job) (a))`:    "has the labels job, namespace only",
		`-sum by (namespace) (a)`:              "has the label namespace only",
		`sum by (namespace) (a) / on (namespace) group_left (team) max by (team, namespace) (b)`: "has the labels namespace, team only",
		`sum by (job) (a) / on (namespace) sum by (job) (b)`:                                     "has the label namespace only",
		`sum by (job) (a) and on () b`:                                                           "has the label job only",
		`max by (a) (x) or max by (b) (x)`:                                                       "has the labels a, b only",
		`count_values by (job) ("version", build)`:                                               "has the labels job, version only",
		`topk(3, sum by (job) (a))`:                                                              "has the label job only",
		`label_replace(sum by (job) (a), "team", "$1", "job", "(.*)")`:                           "has the labels job, team only",
		`label_replace(sum by (job) (a), "pod", "$1", "job", "(.*)")`:                            "",
		`sum by (pod) (a)`:                         "",
		`sum without (job) (a)`:                    "",
		`sum(a)`:                                   "the result of expr has no labels; add pod to by (…) in expr, or leave it out",
		`sum(a) > 0 or absent(b{job="a"})`:         "has the label job only; that of absent has those",
		`absent(up{job="a",ns=~"b.*"})`:            "has the label job only; that of absent has those which its selector compares with =",
		`absent_over_time(up[5m])`:                 "has no labels; that of absent",
		`absent(sum by (pod) (up))`:                "has no labels; that of absent",
		`absent(up{pod="a"})`:                      "",
		`sum by (job) (a) > on (job) group_left a`: "has the label job only",
		`a > on (job) group_left sum by (job) (a)`: "",
		`a / sum by (job) (a)`:                     "",
		`max by (a) (x) or x`:                      "",
		`rate(sum by (job) (a)[5m:])`:              "",
		`sum by (job (a)`:                          "",
	} {
		var got []string
		r := &v1.PrometheusRule{}
		r.Spec.Groups = []v1.RuleGroup{{Name: "g", Rules: []v1.Rule{{
			Alert: "A", Expr: intstr.FromString(expr), Annotations: map[string]string{"summary": "{{ $labels.pod }} {{ range query `a` }}{{ .Labels.x }}{{ end }}"},
		}}}}
		alertRemarks(func(field, format string, args ...any) { got = append(got, field+": "+fmt.Sprintf(format, args...)) }, queriesOf(r))
		if text := strings.Join(got, "\n"); (text == "") != (want == "") || !strings.Contains(text, want) || want != "" && !strings.HasPrefix(text, "spec.groups[0].rules[0].annotations.summary: $labels.pod is empty") {
			t.Errorf("%s: want %q, got %q", expr, want, text)
		}
	}
}
