package prometheus

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// Kind is what the two kinds of owner have under different names.
type Kind struct {
	Name      string // "PrometheusAgent"
	Resource  string // "prometheusagents"
	Component string // the controller in logs and events

	groupVersion schema.GroupVersion
	label        string // value of the metrics' label controller
	queue        string // name of the queue in its metrics
	mode         string // value of the label mode on workloads
	prefix       string // of the names of workloads
	nothing      string // message when an owner selects nothing
	watch        func(*client.Client, informer.Watch) ownerStore
}

var (
	// Servers are Prometheus objects.
	Servers = &Kind{
		Name: v1.PrometheusKind, Resource: v1.PrometheusResource, Component: "prometheus-controller",
		groupVersion: v1.SchemeGroupVersion, label: "prometheus", queue: "prometheus", mode: "server", prefix: "prometheus-",
		nothing: "no ServiceMonitor, PodMonitor, Probe, ScrapeConfig or PrometheusRule is selected",
		watch: func(c *client.Client, w informer.Watch) ownerStore {
			return typedOwners[*v1.Prometheus]{informer.NewStore(c.REST(), v1.PrometheusResource, &v1.Prometheus{}, w, nil), ForServer}
		},
	}
	// Agents are PrometheusAgent objects.
	Agents = &Kind{
		Name: v1alpha1.PrometheusAgentKind, Resource: v1alpha1.PrometheusAgentResource, Component: "prometheusagent-controller",
		groupVersion: v1alpha1.SchemeGroupVersion, label: "prometheus-agent", queue: "prometheusagent", mode: "agent", prefix: "prom-agent-",
		nothing: "no ServiceMonitor, PodMonitor, Probe or ScrapeConfig is selected",
		watch: func(c *client.Client, w informer.Watch) ownerStore {
			return typedOwners[*v1alpha1.PrometheusAgent]{
				informer.NewStore(c.REST(), v1alpha1.PrometheusAgentResource, &v1alpha1.PrometheusAgent{}, w, nil), ForAgent,
			}
		},
	}
)

// GroupVersion is the version of the API that the operator reads.
func (k *Kind) GroupVersion() schema.GroupVersion { return k.groupVersion }

// ownerStore is the informer cache of one kind of owner.
type ownerStore interface {
	informer.Syncer
	Get(namespace, name string) (Owner, bool)
	All() iter.Seq[Owner]
	In(namespace string) []Owner
	OnChange(handle func(informer.Event[Owner])) error
}

// typedOwners makes owners of the objects in a store.
type typedOwners[T informer.Object] struct {
	*informer.Store[T]
	owner func(T) Owner
}

func (s typedOwners[T]) Get(namespace, name string) (Owner, bool) {
	obj, ok := s.Store.Get(namespace, name)
	if !ok {
		return Owner{}, false
	}
	return s.owner(obj), true
}

func (s typedOwners[T]) All() iter.Seq[Owner] {
	return func(yield func(Owner) bool) {
		for obj := range s.Store.All() {
			if !yield(s.owner(obj)) {
				return
			}
		}
	}
}

func (s typedOwners[T]) In(namespace string) []Owner {
	var out []Owner
	for _, obj := range s.Store.List(namespace, labels.Everything()) {
		out = append(out, s.owner(obj))
	}
	return out
}

func (s typedOwners[T]) OnChange(handle func(informer.Event[Owner])) error {
	return s.Store.OnChange(func(e informer.Event[T]) {
		out := informer.Event[Owner]{Action: e.Action}
		if e.Action != "add" {
			out.Before = s.owner(e.Before)
		}
		if e.Action != "delete" {
			out.After = s.owner(e.After)
		}
		handle(out)
	})
}
