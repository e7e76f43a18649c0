package manifests

import (
	"iter"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Cluster returns the state that a reconciliation of a workload would read from a cluster with
// these objects, before the operator has written anything.
func (o *Objects) Cluster(w dryrun.Workload) engine.Cluster {
	out := engine.Cluster{
		NamespaceLabels: o.namespaceLabelsFor(w),
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
	row := catalog.Of(kind)
	all, known := o.inOrder[row]
	if !known {
		all = slices.Clone(o.byRow[row])
		slices.SortFunc(all, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
		o.inOrder[row] = all
	}
	return func(yield func(catalog.Object) bool) {
		for _, object := range all {
			if o.Scope.Leaves(row, object.GetNamespace()) == "" && !yield(object) {
				return
			}
		}
	}
}

// namespaceLabelsFor returns the lookup of namespace labels for a workload. With
// [Objects.AssumeNamespaces], a namespace that is not among the manifests has the labels that the
// workload requires, unless it could equally belong to another workload.
func (o *Objects) namespaceLabelsFor(w dryrun.Workload) func(string) (labels.Set, bool) {
	if !o.AssumeNamespaces || o.contested(w) {
		return o.NamespaceLabels
	}
	rules, err := w.Kind.Selectors(w.Object)
	if err != nil {
		return o.NamespaceLabels
	}
	return func(name string) (labels.Set, bool) {
		set, ok := o.NamespaceLabels(name)
		if o.NamespaceUnknown(name) {
			for _, kind := range slices.Sorted(maps.Keys(rules)) {
				set = rules[kind].Assume(set)
			}
		}
		return set, ok
	}
}

// contested reports whether another workload selects objects of a kind that this one also selects.
func (o *Objects) contested(w dryrun.Workload) bool {
	for other := range o.unsortedWorkloads() {
		if other.Kind == w.Kind && other.Key() == w.Key() {
			continue
		}
		for _, s := range w.Kind.Selects {
			if other.Kind.SelectsBy(s.Row.Kind).Row == s.Row && o.Scope.unmanaged(other) == "" {
				return true
			}
		}
	}
	return false
}
