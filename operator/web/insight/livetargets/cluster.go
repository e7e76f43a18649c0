package livetargets

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// clusterView is the cluster as a workload sees it, with notes on the parts that could not be read.
type clusterView struct {
	cluster engine.Cluster
	notes   []string
}

// read returns the cluster for a workload in namespace own. Resources that cannot be listed in all
// namespaces are listed there.
func (s *Source) read(ctx context.Context, own string) *clusterView {
	out := &clusterView{}
	namespaces := s.namespaceLabels(ctx, out)
	references := s.Reader.References(ctx)
	out.cluster = engine.Cluster{
		NamespaceLabels: namespaces, References: references, Now: time.Now(), SelectionOnly: true,
		Current: func(deps []assets.Dependency) bool { return assets.Unchanged(references, deps) },
		Objects: func(kind string) iter.Seq[catalog.Object] {
			return slices.Values(s.objects(ctx, catalog.Of(kind), own, out))
		},
	}
	return out
}

// namespaceLabels returns a lookup for the labels of all namespaces.
func (s *Source) namespaceLabels(ctx context.Context, note *clusterView) func(string) (labels.Set, bool) {
	read := readers.Read(ctx, s.Reader, readers.Wanted{NamespaceLabels: true})
	note.add(read.Missing)
	return read.NamespaceLabels
}

// objects returns the objects of a kind in the watched namespaces, sorted by key.
func (s *Source) objects(ctx context.Context, row *catalog.Row, own string, note *clusterView) []catalog.Object {
	scope := s.Scopes.For(row)
	out, missing := readers.Everywhere(ctx, s.Reader, readers.Query{GroupVersionResource: row.GroupVersionResource(), Packed: true}, scope, own)
	note.add(missing)
	out = slices.DeleteFunc(out, func(o catalog.Object) bool { return !scope.Has(o.GetNamespace()) })
	slices.SortFunc(out, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
	return out
}

func (r *clusterView) add(missing []readers.Missing) {
	for _, m := range missing {
		r.notes = append(r.notes, m.String())
	}
}

// scrapers returns the workloads that scrape, sorted.
//
// Errors: none of their kinds can be read.
func (s *Source) scrapers(ctx context.Context) (out []explain.Candidate, notes []string, err error) {
	var wanted readers.Wanted
	var setups []engine.Setup
	for _, row := range preview.Kinds {
		if setup, ok := s.setup(row.Kind); ok {
			setups = append(setups, setup)
			wanted.Kinds = append(wanted.Kinds, readers.Kind{Row: row, In: setup.Instances})
		}
	}
	read := readers.Read(ctx, s.Reader, wanted)
	for _, m := range read.Missing {
		notes = append(notes, m.String())
	}
	complete := func(k readers.Kind) bool { return len(read.MissingOf(k.Row)) == 0 }
	if len(read.Missing) > 0 && !slices.ContainsFunc(wanted.Kinds, complete) {
		return nil, nil, read.Missing[0]
	}
	out = slices.DeleteFunc(explain.Candidates(read, setups), func(c explain.Candidate) bool { return !c.Setup.Instances.Has(c.Object.GetNamespace()) })
	slices.SortFunc(out, func(a, b explain.Candidate) int { return compareRefs(a.Ref(), b.Ref()) })
	return out, notes, nil
}

// selecting returns the workloads that select an object.
//
// Errors: the object does not exist or cannot be read; no workload can be read.
func (s *Source) selecting(ctx context.Context, of insight.Object, v *view) (out []catalog.Ref, notes []string, err error) {
	object, err := s.Reader.Get(ctx, of.GroupVersionResource(), of.NamespacedName)
	if err != nil {
		return nil, nil, err
	}
	own, _, err := readers.NamespaceLabels(ctx, s.Reader, of.Namespace)
	if apierrors.IsForbidden(err) || apierrors.IsServiceUnavailable(err) {
		notes = append(notes, fmt.Sprintf("cannot read the labels of namespace %s, so namespace selectors do not match it: %v", of.Namespace, err))
	} else if err != nil {
		return nil, nil, err
	}
	all, more, err := s.scrapers(ctx)
	for _, c := range all {
		rules, wrong := c.Setup.Selectors(c.Object)
		if wrong != nil {
			notes = append(notes, v.notesOf(c.Ref(), []string{fmt.Sprintf("%s is invalid: %v", c.Ref(), wrong)})...)
			continue
		}
		if rule := rules[of.Kind]; !rule.Empty() && rule.Namespace(of.Namespace, own) && rule.Labels(object.GetLabels()) {
			out = append(out, c.Ref())
		}
	}
	return out, append(notes, more...), err
}
