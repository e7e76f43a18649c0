package prometheus

import (
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/fragment"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Owner is a Prometheus or a PrometheusAgent: the object, what both kinds say in
// the same words, and the object of its own type for the rest.
type Owner struct {
	informer.Object
	Fields *v1.CommonPrometheusFields // part of the object's spec
	Status *v1.PrometheusStatus       // the object's

	Server *v1.Prometheus            // nil for a PrometheusAgent
	Agent  *v1alpha1.PrometheusAgent // nil for a Prometheus
}

// ForServer is the owner that a Prometheus is.
func ForServer(p *v1.Prometheus) Owner {
	return Owner{Object: p, Fields: &p.Spec.CommonPrometheusFields, Status: &p.Status, Server: p}
}

// ForAgent is the owner that a PrometheusAgent is.
func ForAgent(a *v1alpha1.PrometheusAgent) Owner {
	return Owner{Object: a, Fields: &a.Spec.CommonPrometheusFields, Status: &a.Status, Agent: a}
}

// Kind is the owner's kind.
func (o Owner) Kind() *Kind {
	if o.Server != nil {
		return Servers
	}
	return Agents
}

// Key is the owner's namespace and name.
func (o Owner) Key() types.NamespacedName { return keyOf(o) }

// String is for people: "Prometheus/monitoring/k8s".
func (o Owner) String() string { return o.Kind().Name + "/" + o.GetNamespace() + "/" + o.GetName() }

// fragments is the owner's name in the caches of fragments.
func (o Owner) fragments() fragment.Owner {
	return fragment.Owner{Kind: o.Kind().Name, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// copied returns a copy that may be changed and knows its own kind, which objects
// in a cache do not.
func (o Owner) copied() Owner {
	if o.Server != nil {
		o = ForServer(o.Server.DeepCopy())
	} else {
		o = ForAgent(o.Agent.DeepCopy())
	}
	o.GetObjectKind().SetGroupVersionKind(o.Kind().groupVersion.WithKind(o.Kind().Name))
	return o
}

// Workload builds the objects that belong to the owner.
func (o Owner) Workload(cfg workload.Config) *workload.Owner {
	if o.Server != nil {
		return workload.ForServer(o.Server, cfg)
	}
	return workload.ForAgent(o.Agent, cfg)
}

// usesDaemonSet reports whether the owner is an agent that runs on every node.
func (o Owner) usesDaemonSet() bool {
	return o.Agent != nil && o.Agent.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
}

// settings are what the owner says about its monitors.
func (o Owner) settings(c promconfig.Capabilities) (*promconfig.Settings, error) {
	if o.Server != nil {
		return promconfig.ServerSettings(o.Server, c)
	}
	return promconfig.AgentSettings(o.Agent, c)
}

// frame compiles the owner's part of the document. An agent has no rules.
func (o Owner) frame(s *promconfig.Settings, ruleConfigMaps []string, r assets.Reader) (promconfig.Frame, error) {
	if o.Server != nil {
		return promconfig.CompileServer(o.Server, s, ruleConfigMaps, r)
	}
	return promconfig.CompileAgent(o.Agent, s, r)
}
