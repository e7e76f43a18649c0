package engine

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Selectors parses the selectors of a workload, by kind of object.
//
// Errors name the field, for example spec.ruleSelector, or the undecodable fields, in which case
// the workload must be left unchanged.
func (k *Kind) Selectors(w v1.Workload) (selection.Rules, error) {
	if err := v1.Undecodable(w); err != nil {
		return nil, err
	}
	out := selection.Rules{}
	var all faults.List
	for _, s := range k.Selects {
		rule, err := s.rule(w)
		all.Add("", err)
		out[s.Kind] = rule
	}
	if all.Any() {
		return nil, all.Err()
	}
	return out, nil
}

// rule parses the selectors of a workload. An invalid selector selects nothing.
func (s Selects) rule(w v1.Workload) (selection.Rule, error) {
	namespaces, objects := s.Of(w)
	rule, err := selection.Parse(w.GetNamespace(), s.Field, namespaces, objects)
	if s.Named != nil {
		rule = rule.Naming(s.Named(w)...)
	}
	if s.Never != nil {
		rule = rule.Never(s.Never(w))
	}
	return rule, err
}

// indexRules returns the selectors for the index. An invalid selector selects nothing there; the
// reconciliation reports it.
func (k *Kind) indexRules(w v1.Workload) selection.Rules {
	out := selection.Rules{}
	for _, s := range k.Selects {
		out[s.Kind], _ = s.rule(w)
	}
	return out
}

// Selected returns the objects of a kind that rules select, sorted by "namespace/name" in byte
// order. Objects that are being deleted or that the workload names are not selected. Callers must not
// modify the slice.
func Selected[T catalog.Object](c Cluster, rules selection.Rules, row *catalog.Row) []T {
	rule := rules[row.Kind]
	if rule.Empty() {
		return nil
	}
	if c.selections == nil {
		return selectedIn[T](c, rule, row)
	}
	held := c.selections.of(row, rule)
	held.once.Do(func() { held.objects = selectedAgain[T](c, rule, row, held.input) })
	if objects, ok := held.objects.([]T); ok {
		return objects
	}
	return selectedIn[T](c, rule, row) // the first caller panicked
}

func selectedIn[T catalog.Object](c Cluster, rule selection.Rule, row *catalog.Row) []T {
	all := c.Objects(row.Kind)
	if all == nil {
		return nil
	}
	return selected[T](rule, all, c.NamespaceLabels)
}

// selectedAgain is like selectedIn, but costs nothing for objects in namespaces that are not selected, and little for
// those that have not changed since the last call for an equal rule.
func selectedAgain[T catalog.Object](c Cluster, rule selection.Rule, row *catalog.Row, in selectionInput) []T {
	if in.store == nil {
		return selectedIn[T](c, rule, row)
	}
	last := c.selections.last.take(positionsKey{row.Kind, rule.Key()})
	at, list := last.follow(in, func(list []catalog.Object) informer.Positions { return positionsOf(rule, list, c.namespaces) }, func(obj catalog.Object) bool {
		return inSelected(rule, obj.GetNamespace(), c.NamespaceLabels) && rule.Takes(obj)
	})
	c.selections.last.note(last, len(at))
	out := make([]T, len(at))
	for i, at := range at {
		out[i] = list[at].(T)
	}
	return out
}

// positionsOf returns where the selected objects are in the sorted list of their kind.
func positionsOf(rule selection.Rule, list []catalog.Object, namespaces iter.Seq2[string, labels.Set]) (out informer.Positions) {
	in := func(namespace string) {
		from, to := informer.Range(list, namespace)
		for at := from; at < to; at++ {
			if rule.Takes(list[at]) {
				out = append(out, int32(at))
			}
		}
	}
	if own, only := rule.Own(); only {
		in(own)
		return out
	}
	for namespace, l := range namespaces {
		if rule.Namespace(namespace, l) {
			in(namespace)
		}
	}
	slices.Sort(out)
	return slices.Clip(out)
}

// inSelected reports whether a rule selects a namespace.
func inSelected(rule selection.Rule, namespace string, labelsOf func(string) (labels.Set, bool)) bool {
	l, exists := labelsOf(namespace)
	return rule.Namespace(namespace, l) && (exists || rule.OwnNamespaceOnly())
}

func selected[T catalog.Object](rule selection.Rule, all iter.Seq[catalog.Object], namespaceLabels func(string) (labels.Set, bool)) []T {
	decided := map[string]bool{}
	var out []T
	var last string // the next object usually has the same namespace
	var selected bool
	for obj := range all {
		if ns := obj.GetNamespace(); ns != last || ns == "" {
			var known bool
			if selected, known = decided[ns]; !known {
				selected = inSelected(rule, ns, namespaceLabels)
				decided[ns] = selected
			}
			last = ns
		}
		if selected && rule.Takes(obj) {
			out = append(out, obj.(T))
		}
	}
	compare := func(a, b T) int { return informer.CompareKeys(a, b) }
	if !slices.IsSortedFunc(out, compare) { // caches are sorted
		slices.SortFunc(out, compare)
	}
	return out
}
