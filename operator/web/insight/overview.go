package insight

import (
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

// maxAttention limits the problems per page. maxUnselected limits the objects that no workload
// selects.
const (
	maxAttention  = 100
	maxUnselected = 100
)

// Overview implements [Answers].
func (c *Cluster) Overview(ctx context.Context, r Rights, p Page) (*Overview, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	a := w.asking(ctx, r)
	a.elsewhere(c.Setups)
	out := &Overview{Attention: []Attention{}, Unselected: []catalog.Ref{}, Health: map[Health]int{}}
	var shown []*entry
	seen := map[*entry]visible{}
	urgent := make([][]Attention, 2*len(causes))
	for _, e := range w.entries {
		if !a.may("list", e.candidate.Setup.Row, e.ref.Namespace) {
			continue
		}
		matches := p.has(e.ref.String())
		if matches {
			shown = append(shown, e)
		}
		v := visible{counts: c.counts(a, e.ref)}
		v.calls = e.visibleCalls(a, v.counts)
		seen[e] = v
		if matches {
			out.Health[e.state(v.counts)]++
		}
		for _, call := range v.calls {
			if !matches && !p.has(call.Object.String()) {
				continue
			}
			out.AttentionTotal++
			if of := &urgent[rank(call.Urgency)*len(causes)+slices.Index(causes, call.Cause)]; len(*of) < maxAttention {
				*of = append(*of, call)
			}
		}
	}
	out.Attention = append(out.Attention, slices.Concat(urgent...)...)
	out.Attention = out.Attention[:min(len(out.Attention), maxAttention)]
	entries, part, err := take(shown, p, func(e **entry) string { return keyOfRef((*e).ref) })
	if err != nil {
		return nil, err
	}
	out.Part, out.Workloads = part, make([]WorkloadRow, 0, len(entries))
	for _, e := range entries {
		out.Workloads = append(out.Workloads, seen[e].row(e))
	}
	for _, ref := range w.unselectedByAny() {
		if p.has(ref.String()) && a.details(ref) {
			if out.UnselectedTotal++; len(out.Unselected) < maxUnselected {
				out.Unselected = append(out.Unselected, ref)
			}
		}
	}
	out.Unread = appendNew(slices.Clone(w.unread), a.unread...)
	return out, nil
}

// usedElsewhere reports whether a workload refers to an object by name, or selects it for another
// operator.
func (w *snapshot) usedElsewhere(e *entry, kind string, o catalog.Object) bool {
	rule, has := e.rules[kind]
	return has && (rule.Names(o.GetNamespace(), o.GetName()) || e.report.Unmanaged != "" && w.selects(rule, o))
}

// findUnselected returns the objects that no workload selects, sorted. It returns nil if namespace
// labels are not known.
func (w *snapshot) findUnselected() (out []catalog.Ref) {
	if w.namespacesUnread != "" {
		return nil
	}
	selected := map[catalog.Ref]bool{}
	var open []*entry // that may select more
	for _, e := range w.entries {
		for ref := range e.states {
			selected[ref] = true
		}
		if e.unjudged || w.behind[e] {
			open = append(open, e)
		}
	}
	for row, objects := range w.objects {
		for _, o := range objects {
			ref := catalog.RefOf(row.Kind, o)
			if selected[ref] || o.GetDeletionTimestamp() != nil || slices.ContainsFunc(open, func(e *entry) bool { return w.unselected(e, row.Kind, o) == status.Unknown }) {
				continue
			}
			if !slices.ContainsFunc(w.entries, func(e *entry) bool { return w.usedElsewhere(e, row.Kind, o) }) {
				out = append(out, ref)
			}
		}
	}
	slices.SortFunc(out, compareRefs)
	return out
}

// visibleCalls returns the problems of a workload. Problems of objects that the caller may not get
// are merged into a count.
func (e *entry) visibleCalls(a *asker, counts *TargetCounts) []Attention {
	all := e.all(counts)
	hidden := map[Cause]int{}
	for i := range all {
		if all[i].Object.Name != "" && !a.details(all[i].Object) {
			hidden[all[i].Cause]++
		}
	}
	if len(hidden) == 0 {
		return all
	}
	var out []Attention
	for _, call := range all {
		if call.Object.Name != "" && !a.details(call.Object) {
			n := hidden[call.Cause]
			if n == 0 {
				continue // already counted
			}
			hidden[call.Cause] = 0
			call.Object, call.Message, call.Fix = catalog.Ref{}, fmt.Sprintf(hiddenCalls[call.Cause], n), ""
		}
		out = append(out, call)
	}
	return out
}

// hiddenCalls are the messages about objects that the caller may not get, by cause.
var hiddenCalls = map[Cause]string{
	RejectedObject: "objects that you may not get are rejected: %d",
	NoTargets:      "objects that you may not get have no targets: %d",
}

// visible is the part of a workload that the caller may see.
type visible struct {
	counts *TargetCounts
	calls  []Attention
}

// row returns the table row with only the messages that the caller may see.
func (v visible) row(e *entry) WorkloadRow {
	row := e.row(v.counts)
	if len(v.calls) > 0 {
		row.Message = v.calls[0].Message
	}
	return row
}
