package prometheus

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// selectable are the objects of a cluster that workloads can select.
type selectable struct {
	services []*v1.ServiceMonitor
	pods     []*v1.PodMonitor
	probes   []*v1.Probe
	scrapes  []*v1alpha1.ScrapeConfig
	rules    []*v1.PrometheusRule
}

// objects returns the objects of a kind for an engine.Cluster.
func (s *selectable) objects(kind string) iter.Seq[catalog.Object] {
	switch kind {
	case v1.ServiceMonitorKind:
		return each(s.services)
	case v1.PodMonitorKind:
		return each(s.pods)
	case v1.ProbeKind:
		return each(s.probes)
	case v1alpha1.ScrapeConfigKind:
		return each(s.scrapes)
	}
	return each(s.rules)
}

func each[T catalog.Object](all []T) iter.Seq[catalog.Object] {
	return func(yield func(catalog.Object) bool) {
		for _, o := range all {
			if !yield(o) {
				return
			}
		}
	}
}

func byName[T metav1.Object](all []T) map[string]T {
	out := make(map[string]T, len(all))
	for _, o := range all {
		out[o.GetName()] = o
	}
	return out
}

// gatherFor runs the first half of a reconciliation without cached results, until all
// inputs have been read.
func gatherFor(opts Options, o Workload, c engine.Cluster) (*Inputs, error) {
	servers, agents := Kinds(opts, &rules.Cache{})
	kind := servers
	if o.Agent != nil {
		kind = agents
	}
	in, err := kind.Open(types.NamespacedName{}).Gather(o.typed(), c)
	return in.(*Inputs), err
}

// counts returns the numbers of selected and rejected objects of each kind.
func (in *Inputs) counts() map[string]engine.Selection {
	out := map[string]engine.Selection{}
	for v := range in.Results() {
		n := out[v.Kind]
		n.Selected++
		if v.Err != nil {
			n.Rejected++
		}
		out[v.Kind] = n
	}
	return out
}
