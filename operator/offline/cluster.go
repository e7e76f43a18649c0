package offline

import (
	"iter"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// Cluster is what a reconciliation of a workload reads in a cluster that holds the
// objects, and nothing that an operator has written.
func (o *Objects) Cluster(w Workload) engine.Cluster {
	out := engine.Cluster{
		NamespaceLabels: o.NamespaceLabels,
		References:      &o.References,
		Objects:         o.sorted,
		Live: engine.Live{
			StatefulSets: map[string]*appsv1.StatefulSet{},
			Secrets:      map[string]*corev1.Secret{},
		},
	}
	for _, peer := range o.byRow[w.Kind.Row] {
		if peer.GetNamespace() == w.Object.GetNamespace() {
			out.Live.Peers = append(out.Live.Peers, engine.Peer{Workload: peer.(v1.Workload)})
		}
	}
	return out.Offline()
}

func (o *Objects) sorted(kind string) iter.Seq[catalog.Object] {
	all := slices.Clone(o.byRow[catalog.Of(kind)])
	slices.SortFunc(all, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
	return slices.Values(all)
}
