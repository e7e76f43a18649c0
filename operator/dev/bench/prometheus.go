package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// prometheus measures ServiceMonitors and PrometheusRules.
var prometheus = &subject{
	sizes: "1000/200,5000/500,10000/1000,300/100x50",
	owners: resource{
		v1.GroupVersionResource(v1.PrometheusResource), "Prometheus objects", ownerName, func(i int) object { return owner(i) },
	},
	selected: []selected{
		{resource{
			v1.GroupVersionResource(v1.ServiceMonitorResource), "monitors", monitorName, func(i int) object { return monitor(i) },
		}, "monitor", mark{"tier-of-change-", "-"}, monitorPatch, written{80, secretBytes}},
		{resource{
			v1.GroupVersionResource(v1.PrometheusRuleResource), "rule objects", ruleName, func(i int) object { return rule(i) },
		}, "rule", mark{"changed-", "-times"}, rulePatch, written{12_000, configMapBytes}},
	},
	prefix: "prometheus-", key: "prometheus.yaml.gz", file: "prometheus.yaml",
	entry: "\n- job_name:", entries: endpoints,
	confine: confinePrometheus,
}

const (
	// endpoints is the number of jobs of a monitor.
	endpoints = 2
	// alerts is the number of rules of an object.
	alerts = 20
)

func monitorName(i int) string { return fmt.Sprintf("service-%05d", i) }

func ruleName(i int) string { return fmt.Sprintf("alerts-%05d", i) }

// monitor returns a typical ServiceMonitor: a plain endpoint with relabelings, and one for a proxy next to it.
func monitor(i int) *v1.ServiceMonitor {
	name := monitorName(i)
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "release": "main", "team": team(i % teams)},
	}}
	m.Spec.JobLabel = "app.kubernetes.io/name"
	m.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": name}}
	m.Spec.Endpoints = []v1.Endpoint{
		{
			Port: "http-metrics", Path: "/metrics", Interval: "30s", ScrapeTimeout: "10s",
			RelabelConfigs: []v1.RelabelConfig{
				{SourceLabels: []v1.LabelName{"__meta_kubernetes_pod_node_name"}, TargetLabel: "node", Action: "replace"},
				{SourceLabels: []v1.LabelName{"__meta_kubernetes_pod_phase"}, Regex: "(Failed|Succeeded)", Action: "drop"},
			},
			MetricRelabelConfigs: []v1.RelabelConfig{
				{SourceLabels: []v1.LabelName{"__name__"}, Regex: "go_(gc|memstats)_.+", Action: "drop"},
			},
		},
		{
			Port: "http-envoy", Path: "/stats/prometheus", Interval: "1m",
			RelabelConfigs: []v1.RelabelConfig{
				{TargetLabel: "tier", Replacement: new(fmt.Sprintf("tier-%d", i%7)), Action: "replace"},
				{Regex: "pod_template_hash", Action: "labeldrop"},
			},
		},
	}
	return m
}

// monitorPatch returns a change of a monitor that adds a text to the configuration.
func monitorPatch(text string) []byte {
	return fmt.Appendf(nil, `[{"op":"replace","path":"/spec/endpoints/1/relabelings/0/replacement","value":%q}]`, text)
}

// rule returns a PrometheusRule with one group of alerts.
func rule(i int) *v1.PrometheusRule {
	name := ruleName(i)
	r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"release": "main", "team": team(i % teams)},
	}}
	group := v1.RuleGroup{Name: name + ".rules", Interval: "30s"}
	for a := range alerts {
		group.Rules = append(group.Rules, v1.Rule{
			Alert: fmt.Sprintf("ServiceErrorRateHigh%d", a),
			Expr: intstr.FromString(fmt.Sprintf(
				`sum by (namespace, job) (rate(http_requests_total{job=%q,code=~"5.."}[5m])) / sum by (namespace, job) (rate(http_requests_total{job=%q}[5m])) > 0.%02d`,
				monitorName(i), monitorName(i), a+1)),
			For:    "10m",
			Labels: map[string]string{"severity": "warning", "team": team(i % teams)},
			Annotations: map[string]string{
				"summary":     "{{ $labels.job }} in {{ $labels.namespace }} answers many requests with an error.",
				"description": "{{ $value | humanizePercentage }} of the requests failed for more than 10 minutes.",
				"runbook_url": fmt.Sprintf("https://runbooks.example.com/%s/%d", name, a),
			},
		})
	}
	r.Spec.Groups = []v1.RuleGroup{group}
	return r
}

// rulePatch returns a change of a PrometheusRule that adds a text to its file.
func rulePatch(text string) []byte {
	return fmt.Appendf(nil, `[{"op":"replace","path":"/spec/groups/0/rules/3/annotations/summary","value":%q}]`, text)
}

// owner returns a Prometheus that selects everything.
func owner(i int) *v1.Prometheus {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Name: ownerName(i)}}
	everything := &metav1.LabelSelector{}
	p.Spec.ServiceMonitorSelector, p.Spec.ServiceMonitorNamespaceSelector = everything, everything
	p.Spec.PodMonitorSelector, p.Spec.PodMonitorNamespaceSelector = everything, everything
	p.Spec.RuleSelector, p.Spec.RuleNamespaceSelector = everything, everything
	p.Spec.Replicas = new(int32(1))
	p.Spec.ScrapeInterval = "30s"
	p.Spec.ExternalLabels = map[string]string{"cluster": "bench"}
	return p
}

// confinePrometheus makes a Prometheus select the objects of namespaces with a label.
func confinePrometheus(workload runtime.Object, label, value string) {
	p := workload.(*v1.Prometheus)
	labeled := &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
	p.Spec.ServiceMonitorNamespaceSelector, p.Spec.PodMonitorNamespaceSelector, p.Spec.RuleNamespaceSelector = labeled, labeled, labeled
}
