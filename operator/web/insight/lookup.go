package insight

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// lookup is an index of the objects of a kind, to find those that a workload may select. It is
// built on first use.
type lookup struct {
	all         []catalog.Object
	byNamespace map[string][]catalog.Object
	byLabel     map[[2]string][]catalog.Object
}

// candidates returns a superset of the objects that a rule of a workload in namespace own selects.
func (l *lookup) candidates(rule selection.Rule, own string) []catalog.Object {
	if rule.Empty() {
		return nil
	}
	if l.byNamespace == nil {
		l.byNamespace, l.byLabel = map[string][]catalog.Object{}, map[[2]string][]catalog.Object{}
		for _, o := range l.all {
			l.byNamespace[o.GetNamespace()] = append(l.byNamespace[o.GetNamespace()], o)
			for name, value := range o.GetLabels() {
				l.byLabel[[2]string{name, value}] = append(l.byLabel[[2]string{name, value}], o)
			}
		}
	}
	if rule.OwnNamespaceOnly() {
		return l.byNamespace[own]
	}
	if name, value, ok := rule.Exact(); ok {
		return l.byLabel[[2]string{name, value}]
	}
	return l.all
}

// lookup returns the index of a kind.
func (w *snapshot) lookup(row *catalog.Row) *lookup {
	if w.lookups == nil {
		w.lookups = map[*catalog.Row]*lookup{}
	}
	l := w.lookups[row]
	if l == nil {
		l = &lookup{all: w.objects[row]}
		w.lookups[row] = l
	}
	return l
}
