package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// fromCluster builds the question about an object of a cluster. It reads only the object, its
// namespace and the workloads of the setups. References of the object, and global
// settings of an Alertmanager, are read when a workload compiles it.
//
// Errors: the object does not exist; the API server does not respond or denies access.
func fromCluster(ctx context.Context, r readers.Reader, setups []engine.Setup, n Name) (Question, error) {
	q := Question{Row: n.row, Setups: setups}
	var err error
	q.Object, err = r.Get(ctx, n.row.GroupVersionResource(), types.NamespacedName{Namespace: n.Namespace, Name: n.Name})
	switch {
	case apierrors.IsNotFound(err):
		return q, fmt.Errorf("%s does not exist in the cluster", n)
	case err != nil:
		return q, fmt.Errorf("read %s: %w", n, err)
	}
	own, exists, err := readers.NamespaceLabels(ctx, r, n.Namespace)
	if err != nil {
		return q, fmt.Errorf("read the labels of namespace %s: %w", n.Namespace, err)
	}
	q.NamespaceLabels = func(name string) (labels.Set, bool) {
		if !exists || name != n.Namespace {
			return nil, false
		}
		return own, true
	}
	q.References = r.References(ctx)
	q.Named = func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error) {
		object, err := r.Get(ctx, row.GroupVersionResource(), name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return object, err
	}
	q.RuleConfigMaps = func(c Candidate) []*corev1.ConfigMap { return ruleConfigMaps(ctx, r, c) }
	var kinds []readers.Kind
	for _, setup := range setups {
		kinds = append(kinds, readers.Kind{Row: setup.Row, In: setup.Instances})
	}
	read := readers.Read(ctx, r, readers.Wanted{Kinds: kinds})
	for _, setup := range setups {
		for _, m := range read.MissingOf(setup.Row) {
			if !apierrors.IsForbidden(m) || setup.SelectsBy(q.Row.Kind).Row != nil { // otherwise none of them could use the object
				return q, m
			}
		}
	}
	q.Workloads = Candidates(read, setups)
	return q, nil
}

// Candidates returns the workloads of a snapshot, in the order of the setups.
func Candidates(s readers.Snapshot, setups []engine.Setup) (out []Candidate) {
	for _, setup := range setups {
		for _, o := range s.Objects[setup.Row] {
			out = append(out, Candidate{Setup: setup, Object: o.(v1.Workload)})
		}
	}
	return out
}

// ruleConfigMaps returns the ConfigMaps with the rules of a workload. Read errors are ignored,
// because the ConfigMaps only serve to locate a rule file.
func ruleConfigMaps(ctx context.Context, r readers.Reader, c Candidate) (out []*corev1.ConfigMap) {
	list, err := r.List(ctx, readers.Query{
		GroupVersionResource: readers.ConfigMaps, Namespace: c.Object.GetNamespace(),
		Labels: labels.SelectorFromSet(labels.Set{c.Setup.Names.RuleLabel: c.Object.GetName()}).String(),
	})
	if err != nil {
		return nil
	}
	for _, o := range list {
		out = append(out, o.(*corev1.ConfigMap))
	}
	return out
}
