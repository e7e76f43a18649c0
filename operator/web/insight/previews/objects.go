package previews

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxKinds limits the pairs of kind and namespace in manifests. Each one requires a permission
// check.
const maxKinds = 40

// mayGetAll returns nil if the caller may get all objects of our kinds in the manifests.
//
// Errors: 400 for too many kinds and namespaces; 403; the permission check failed.
func mayGetAll(ctx context.Context, r access.Rights, objects *manifests.Objects) error {
	var all []kindIn
	for _, row := range catalog.All {
		for _, o := range objects.All(row) {
			if one := (kindIn{row, o.GetNamespace()}); !slices.Contains(all, one) {
				all = append(all, one)
			}
			if len(all) > maxKinds {
				return apierrors.NewBadRequest(fmt.Sprintf("the manifests are of more than %d kinds and namespaces: send fewer at a time", maxKinds))
			}
		}
	}
	for _, one := range all {
		of := one.row.GroupResource()
		may, err := r.May(ctx, "get", of, one.namespace)
		if err != nil {
			return err
		}
		if !may {
			return apierrors.NewForbidden(of, "", fmt.Errorf("you have no permission to get %s", one))
		}
	}
	return nil
}

// objectFilter filters the objects that a workload selects.
type objectFilter struct {
	p     *builder
	rules selection.Rules
	// left counts the objects that are left out, by kind.
	left map[string]int
}

// selecting returns an empty filter for a workload with invalid selectors, which has no jobs.
func (p *builder) objectFilter(c explain.Candidate) *objectFilter {
	rules, _ := c.Setup.Selectors(c.Object)
	return &objectFilter{p: p, rules: rules, left: map[string]int{}}
}

func (s *objectFilter) selects(kind string, o catalog.Object) bool {
	rule := s.rules[kind]
	l, exists := s.p.cluster.NamespaceLabels(o.GetNamespace())
	return (exists || rule.OwnNamespaceOnly()) && rule.Namespace(o.GetNamespace(), l) && rule.Labels(o.GetLabels())
}

// objects leaves out objects that the operator does not watch, that the caller may not get or,
// unless whole is set, that are not in the manifests.
func (p *builder) objects(all func(string) iter.Seq[catalog.Object], s *objectFilter, whole bool) func(string) iter.Seq[catalog.Object] {
	return func(kind string) iter.Seq[catalog.Object] {
		namespaces := p.s.Scopes.For(catalog.Of(kind))
		return func(yield func(catalog.Object) bool) {
			s.left[kind] = 0
			for o := range all(kind) {
				ref := catalog.RefOf(kind, o)
				given := slices.Contains(p.given, ref)
				switch {
				case !namespaces.Has(ref.Namespace), !given && !(whole && s.selects(kind, o)):
				case !given && !p.a.MayGet(ref):
					s.left[kind]++
				case !yield(o):
					return
				}
			}
		}
	}
}

// notes returns notes on objects that are left out. If the caller controls the selectors or the
// labels of namespaces (asked), they have no counts, which would reveal labels of the objects.
func (s *objectFilter) notes(asked bool) (out []string) {
	var some []string
	for _, row := range preview.Sources {
		rule := s.rules[row.Kind]
		switch n := s.left[row.Kind]; {
		case asked && !rule.Empty() && !rule.OwnNamespaceOnly() && !s.p.a.May("get", row, ""):
			some = append(some, row.Resource)
		case !asked && n > 0:
			out = append(out, fmt.Sprintf("%d %s that it selects are not looked at: you may not get them", n, row.Resource))
		}
	}
	if len(some) > 0 {
		out = append(out, fmt.Sprintf("of %s in other namespaces, only those that you may get are looked at", strings.Join(some, ", ")))
	}
	return out
}
