package prometheus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Actions in Events about rejected objects.
const (
	selectingMonitors = "SelectingConfigurationResources"
	selectingRules    = "SelectingPrometheusRuleResources"
)

// monitors are the kinds of objects with jobs, in the order of the configuration of a
// server.
var monitors = []engine.Selects{
	{Row: catalog.ServiceMonitor, Action: selectingMonitors, Never: perNode("write a PodMonitor, or mode: StatefulSet"), Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ServiceMonitorNamespaceSelector, f.ServiceMonitorSelector
	}},
	{Row: catalog.PodMonitor, Action: selectingMonitors, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.PodMonitorNamespaceSelector, f.PodMonitorSelector
	}},
	{Row: catalog.Probe, Action: selectingMonitors, Never: perNode("write mode: StatefulSet"), Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ProbeNamespaceSelector, f.ProbeSelector
	}},
	{Row: catalog.ScrapeConfig, Action: selectingMonitors, Never: perNode("write mode: StatefulSet"), Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ScrapeConfigNamespaceSelector, f.ScrapeConfigSelector
	}},
}

// perNode returns the reason why an agent with a pod on each node never selects objects of a kind, with a remedy.
func perNode(remedy string) func(w v1.Workload) string {
	return func(w v1.Workload) string {
		if !workloadOf(w).usesDaemonSet() {
			return ""
		}
		return "an agent with mode DaemonSet uses PodMonitors only: " + remedy
	}
}

// ruleObjects is the kind of rules, which agents do not evaluate.
var ruleObjects = engine.Selects{
	Row: catalog.PrometheusRule, Action: selectingRules, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		spec := workloadOf(w).Server.Spec
		return spec.RuleNamespaceSelector, spec.RuleSelector
	},
}
