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

// TestRemarks: valid settings of objects with a probably unintended effect get a remark, similar ones without a problem
// get none.
func TestRemarks(t *testing.T) {
	checkRemarks(t, map[string]remarkCase{
		"an endpoint without port":          {"", withEndpoints("  - {port: a}\n  - {path: /m}\n"), "spec.endpoints[1]: neither port nor targetPort is set, so every port of the Services is scraped (is there a dash too many"},
		"an interval of zero":               {"", withEndpoints("  - {port: a, interval: 0s}\n"), "spec.endpoints[0].interval: 0s is as if it were not set"},
		"a selector of nothing":             {"", strings.Replace(withEndpoints("  - {port: a}\n"), "selector: {}", "selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: NotIn, values: [b]}]}", 1), "spec.selector.matchExpressions[0]: contradicts matchLabels"},
		"no endpoints of pods":              {"", "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: web, namespace: app}\nspec: {selector: {}}\n", "spec.podMetricsEndpoints: has no items, so nothing is scraped"},
		"TLS without https":                 {"", withEndpoints("  - {port: a, tlsConfig: {insecureSkipVerify: true}}\n"), "spec.endpoints[0].tlsConfig: has no effect, because targets are scraped with http; set scheme: https"},
		"TLS with https":                    {"", withEndpoints("  - {port: a, scheme: HTTPS, tlsConfig: {insecureSkipVerify: true}}\n"), ""},
		"a target that is a URL":            {"", withStaticTarget("http://10.0.0.1:9100/metrics"), "spec.staticConfigs[0].targets[0]: want host:port without scheme and path, and Prometheus drops the target; write 10.0.0.1:9100, with spec.scheme: HTTP, with spec.metricsPath: /metrics"},
		"a target with a path":              {"", withStaticTarget("a:80/m"), "write a:80, with spec.metricsPath: /m"},
		"a target":                          {"", withStaticTarget("10.0.0.1:9100"), ""},
		"targets in one text":               {"", withStaticTarget("a:80,b:80"), "targets[0]: is one target, whose host has a comma or a blank in its name; make each address an item"},
		"no target":                         {"", "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {jobName: a}\n", "ScrapeConfig app/web: spec: has no static targets and no discovery"},
		"targets of a file that no pod has": {"", "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {fileSDConfigs: [{files: [/etc/prometheus/configmaps/a/b.json]}]}\n", "spec.fileSDConfigs[0].files[0]: no pod has /etc/prometheus/configmaps/a, because spec.configMaps of the workload does not name"},
		"a matcher that is not":             {"", anyRule, ""},
		"a Probe that probes nothing": {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: web, namespace: app}\n" +
			"spec: {prober: {url: 'b:9115', path: /metrics}, targets: {staticConfig: {static: [a]}}}\n", "spec.prober.path: /metrics has the metrics of the prober itself"},
		"a Probe of two addresses in one":       {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", withProbeTargets("'https://a https://b'"), "spec.targets.staticConfig.static[0]: is one target with a blank in it; make each address an item of the list"},
		"a Probe with a blank before":           {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", withProbeTargets("a, ' https://a'"), "spec.targets.staticConfig.static[1]: has a blank before or after it, which is part of what is probed: remove it"},
		"a Probe of a blank":                    {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", withProbeTargets("' '"), "spec.targets.staticConfig.static[0]: is blank"},
		"a Probe":                               {"  probeSelector: {}\n  probeNamespaceSelector: {}\n", withProbeTargets("'https://a/?b=c,d'"), ""},
		"half of a key of AWS":                  {"", withScrapeConfig("ec2SDConfigs: [{region: a, accessKey: {name: web, key: user}}]") + withPassword("x"), "spec.ec2SDConfigs[0].accessKey: is no credential without secretKey: set both"},
		"the other half":                        {"", withScrapeConfig("lightSailSDConfigs: [{region: a, secretKey: {name: web, key: user}}]") + withPassword("x"), "spec.lightSailSDConfigs[0].secretKey: is no credential without accessKey"},
		"a key of AWS":                          {"", withScrapeConfig("ec2SDConfigs: [{region: a, accessKey: {name: web, key: user}, secretKey: {name: web, key: password}}]") + withPassword("x"), ""},
		"the role of the pod":                   {"", withScrapeConfig("ec2SDConfigs: [{region: a}]"), ""},
		"targets of a file without volume":      {"", withScrapeConfig("fileSDConfigs: [{files: [/etc/targets/a.yaml]}]"), "spec.fileSDConfigs[0].files[0]: no volume is mounted at /etc/targets in the pods of the workload, so there is no such file unless the image has it; name a ConfigMap in spec.configMaps of the workload, and write /etc/prometheus/configmaps/NAME/a.yaml"},
		"targets of a file that nothing mounts": {"", withScrapeConfig("fileSDConfigs: [{files: [/etc/prometheus/targets/a.json]}]"), "spec.fileSDConfigs[0].files[0]: no volume is mounted at /etc/prometheus/targets in the pods of the workload, so there is no such file unless the image has it; name a ConfigMap in spec.configMaps of the workload, and write /etc/prometheus/configmaps/NAME/a.json"},
		"a target with a blank after":           {"", withScrapeConfig("staticConfigs: [{targets: ['10.0.0.1:9100 ']}]"), "spec.staticConfigs[0].targets[0]: has a blank before or after it, which is part of the address: remove it"},
		"a target with a comma after":           {"", withScrapeConfig("staticConfigs: [{targets: ['10.0.0.1:9100,']}]"), "spec.staticConfigs[0].targets[0]: has a comma before or after it"},
		"a target of blanks":                    {"", withScrapeConfig("staticConfigs: [{targets: [' ']}]"), "spec.staticConfigs[0].targets[0]: has no address"},
		"targets in one":                        {"", withScrapeConfig("staticConfigs: [{targets: ['a:1, b:1']}]"), "spec.staticConfigs[0].targets[0]: is one target, whose host has a comma or a blank in its name"},
		"a text that a tool has left":           {"", withSummary("Pod <no value> is down"), "spec.groups[0].rules[0].annotations.summary: <no value> is what a tool such as Helm made of a template that was meant for Prometheus"},
		"a password with a line break":          {"", withBasicAuth + withPassword("|\n    s3cret"), `spec.endpoints[0].basicAuth.password.key: the value of key "password" in Secret app/web ends with a line break, which is sent as part of it`},
		"a password without":                    {"", withBasicAuth + withPassword("s3cret"), ""},
	})
}

// Objects that are valid alone get a remark about others among the manifests.
func TestRemarksAcrossObjects(t *testing.T) {
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
			got := lines(t, selectsAll+withEndpoints("  - {port: a, "+field+"}\n")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: app}\ndata: {a: b}\n")
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
			selectsAll + anyRule + manager: true, selectsAll + anyRule: false, selectsAll + manager: false,
			selectsAll + "  additionalAlertManagerConfigs: {name: a, key: b}\n" + anyRule + manager:                 false,
			selectsAll + "  alerting: {alertmanagers: [{namespace: am, name: a, port: web}]}\n" + anyRule + manager: false,
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
