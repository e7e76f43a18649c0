package followed

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// reading is the cluster as a workload sees it, with notes on the parts that could not be read.
type reading struct {
	cluster engine.Cluster
	notes   []string
}

// read returns the cluster for a workload in namespace own. Resources that cannot be listed in all
// namespaces are listed there.
func (s *Source) read(ctx context.Context, own string) *reading {
	out := &reading{}
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
func (s *Source) namespaceLabels(ctx context.Context, note *reading) func(string) (labels.Set, bool) {
	all, err := readers.AllNamespaceLabels(ctx, s.Reader)
	if err != nil {
		note.add("cannot read namespace labels, so namespace selectors match nothing: %v", err)
	}
	return all
}

// objects returns the objects of a kind in the watched namespaces, sorted by key.
func (s *Source) objects(ctx context.Context, row *catalog.Row, own string, note *reading) (out []catalog.Object) {
	scope := s.Scopes.For(row)
	q := readers.Query{GroupVersionResource: row.GroupVersionResource()}
	var err error
	if scope.All() {
		var refused error
		out, refused, err = readers.Somewhere(ctx, s.Reader, q, own)
		if refused != nil {
			note.add("could not read %s in namespaces other than %s: %v", row.Resource, own, refused)
		}
	} else {
		for _, namespace := range scope.Watches() {
			q.Namespace = namespace
			some, failed := s.Reader.List(ctx, q)
			if out = append(out, some...); failed != nil {
				err = failed
			}
		}
	}
	if err != nil {
		note.add("could not read %s: %v", row.Resource, err)
	}
	out = slices.DeleteFunc(slices.Clone(out), func(o catalog.Object) bool { return !scope.Has(o.GetNamespace()) })
	slices.SortFunc(out, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
	return out
}

func (r *reading) add(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// scrapers returns the workloads that scrape, sorted.
//
// Errors: none of their kinds can be read.
func (s *Source) scrapers(ctx context.Context) (out []explain.Candidate, notes []string, err error) {
	read := false
	for _, row := range preview.Kinds {
		setup, ok := s.setup(row.Kind)
		if !ok {
			continue
		}
		list, failed := readers.Watched(ctx, s.Reader, row, setup.Instances)
		if failed != nil {
			err = failed
			notes = append(notes, fmt.Sprintf("could not read %s: %v", row.Resource, failed))
			continue
		}
		read = true
		for _, object := range list {
			if setup.Instances.Has(object.GetNamespace()) {
				out = append(out, explain.Candidate{Setup: setup, Object: object.(v1.Workload)})
			}
		}
	}
	if !read && err != nil {
		return nil, nil, err
	}
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
