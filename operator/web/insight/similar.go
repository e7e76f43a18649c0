package insight

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxSimilar limits the suggestions for a name.
const maxSimilar = 5

// Similar implements [Answers]. Names that the caller may not list have no influence on the result.
func (c *Cluster) Similar(ctx context.Context, r access.Rights, o Object) ([]catalog.Ref, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	a := access.NewChecker(ctx, r)
	out := w.sameName(a, o)
	if a.May("list", o.Row, o.Namespace) {
		var names []string
		w.eachOf(o.Row, func(ref catalog.Ref) {
			if ref.Namespace == o.Namespace {
				names = append(names, ref.Name)
			}
		})
		if name := manifest.Similar(o.Name, names); name != "" {
			out = append(out, catalog.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: name})
		}
	}
	return out[:min(len(out), maxSimilar)], nil
}

// sameName returns the objects of the same name: those of other kinds in the same namespace and, if
// the caller may list all namespaces, those of the same kind elsewhere.
func (w *snapshot) sameName(a *access.Checker, o Object) (out []catalog.Ref) {
	for _, row := range catalog.All {
		if catalog.Of(row.Kind) != row || !a.May("list", row, o.Namespace) {
			continue
		}
		everywhere := row == o.Row && a.May("list", row, "")
		w.eachOf(row, func(ref catalog.Ref) {
			if ref.Name == o.Name && (everywhere || ref.Namespace == o.Namespace) && len(out) < maxSimilar {
				out = append(out, ref)
			}
		})
	}
	return out
}

// eachOf calls each with the objects of a kind.
func (w *snapshot) eachOf(row *catalog.Row, each func(catalog.Ref)) {
	for _, o := range w.objects[row] {
		each(catalog.RefOf(row.Kind, o))
	}
	for _, e := range w.entries {
		if e.ref.Kind == row.Kind {
			each(e.ref)
		}
	}
}
