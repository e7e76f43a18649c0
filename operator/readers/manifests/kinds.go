package manifests

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Selectable returns the rows that workloads of some kinds select, without duplicates and in
// catalog order.
func Selectable(kinds []*engine.Kind) []*catalog.Row {
	return rows(func(r *catalog.Row) bool { return selectable(kinds, r) })
}

func selectable(kinds []*engine.Kind, row *catalog.Row) bool {
	return slices.ContainsFunc(kinds, func(k *engine.Kind) bool { return k.SelectsBy(row.Kind).Row == row })
}

// used reports whether a row is one of the kinds or selected by one of them, in any version.
func used(kinds []*engine.Kind, row *catalog.Row) bool {
	row = worked(row)
	return selectable(kinds, row) || slices.ContainsFunc(kinds, func(k *engine.Kind) bool { return k.Row == row })
}

func rows(holds func(*catalog.Row) bool) []*catalog.Row {
	return slices.DeleteFunc(slices.Clone(catalog.All), func(r *catalog.Row) bool { return !holds(r) })
}

// find returns the row of a kind and version; nil when the group does not have it.
func find(gvk schema.GroupVersionKind) *catalog.Row {
	found := rows(func(r *catalog.Row) bool { return r.GroupVersionKind == gvk })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}
