package prometheus

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Workload is a Prometheus or a PrometheusAgent: the object, the fields that both kinds
// share, and the typed object for the rest.
type Workload struct {
	catalog.Object
	Fields *v1.CommonPrometheusFields // points into the object's spec
	Status *v1.PrometheusStatus       // points into the object

	Server *v1.Prometheus            // nil for a PrometheusAgent
	Agent  *v1alpha1.PrometheusAgent // nil for a Prometheus

	limits *scaling.Limits // for the number of shards, which spec.shards has here; nil without autoscaling
}

// workloadOf returns the [Workload] for a workload of either kind.
func workloadOf(w v1.Workload) Workload {
	switch w := w.(type) {
	case *v1.Prometheus:
		return forServer(w)
	case *v1alpha1.PrometheusAgent:
		return forAgent(w)
	}
	panic(fmt.Sprintf("%T is neither a Prometheus nor a PrometheusAgent", w))
}

// workloadOf returns the workload with the number of shards that it should have.
func (opts Options) workloadOf(w v1.Workload) Workload { return workloadOf(w).scaled(opts) }

// forServer returns the [Workload] for a Prometheus.
func forServer(p *v1.Prometheus) Workload {
	return Workload{Object: p, Fields: &p.Spec.CommonPrometheusFields, Status: &p.Status, Server: p}
}

// forAgent returns the [Workload] for a PrometheusAgent.
func forAgent(a *v1alpha1.PrometheusAgent) Workload {
	return Workload{Object: a, Fields: &a.Spec.CommonPrometheusFields, Status: &a.Status, Agent: a}
}

// typed returns the object as a workload of the engine.
func (o Workload) typed() v1.Workload { return o.Object.(v1.Workload) }

// Row returns the catalog row of the workload's kind.
func (o Workload) Row() *catalog.Row {
	if o.Server != nil {
		return catalog.Prometheus
	}
	return catalog.PrometheusAgent
}

// Key returns the namespace and name of the workload.
func (o Workload) Key() types.NamespacedName { return catalog.KeyOf(o) }

// String returns a human-readable name: "Prometheus/monitoring/k8s".
func (o Workload) String() string { return o.Row().Kind + "/" + o.GetNamespace() + "/" + o.GetName() }

// cacheKey returns the key of the workload in the caches of fragments.
func (o Workload) cacheKey() fragments.Workload {
	return fragments.Workload{Kind: o.Row().Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// builder returns the builder of the workload's objects.
func (o Workload) builder(cfg workload.Config) *promworkload.Builder {
	if o.Server != nil {
		return promworkload.ForServer(o.Server, cfg)
	}
	return promworkload.ForAgent(o.Agent, cfg)
}

// usesDaemonSet reports whether the workload is an agent that runs on every node.
func (o Workload) usesDaemonSet() bool {
	return o.Agent != nil && o.Agent.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
}

// settings returns the settings of a workload for compiling monitors.
func (opts Options) settings(o Workload) (*promconfig.Settings, error) {
	switch {
	case o.Server == nil:
		return promconfig.AgentSettings(o.Agent, opts.Capabilities)
	case opts.unmanaged(o):
		return promconfig.UnmanagedSettings(o.Server, opts.Capabilities)
	}
	return promconfig.ServerSettings(o.Server, opts.Capabilities)
}

// frame compiles the workload's own part of the document. An agent has no rules.
func (o Workload) frame(s *promconfig.Settings, ruleConfigMaps []string, r assets.Reader) (promconfig.Frame, error) {
	if o.Server != nil {
		return promconfig.CompileServer(o.Server, s, ruleConfigMaps, r)
	}
	return promconfig.CompileAgent(o.Agent, s, r)
}

// unmanaged reports whether the user manages the configuration of a workload. That is
// never the case for an agent.
func (opts Options) unmanaged(o Workload) bool {
	return o.Server != nil && promconfig.Unmanaged(o.Server, opts.DisableUnmanaged)
}
