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
	{Row: catalog.ServiceMonitor, Action: selectingMonitors, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ServiceMonitorNamespaceSelector, f.ServiceMonitorSelector
	}},
	{Row: catalog.PodMonitor, Action: selectingMonitors, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.PodMonitorNamespaceSelector, f.PodMonitorSelector
	}},
	{Row: catalog.Probe, Action: selectingMonitors, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ProbeNamespaceSelector, f.ProbeSelector
	}},
	{Row: catalog.ScrapeConfig, Action: selectingMonitors, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		f := workloadOf(w).Fields
		return f.ScrapeConfigNamespaceSelector, f.ScrapeConfigSelector
	}},
}

// ruleObjects is the kind of rules, which agents do not evaluate.
var ruleObjects = engine.Selects{
	Row: catalog.PrometheusRule, Action: selectingRules, Of: func(w v1.Workload) (_, _ *metav1.LabelSelector) {
		spec := workloadOf(w).Server.Spec
		return spec.RuleNamespaceSelector, spec.RuleSelector
	},
}
