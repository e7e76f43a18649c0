package insight

import (
	"context"
	"slices"
)

// maxAttention bounds what calls for attention on one page.
const maxAttention = 100

// Overview implements [Answers].
func (c *Cluster) Overview(ctx context.Context, r Rights, p Page) (*Overview, error) {
	w, err := c.world(ctx)
	if err != nil {
		return nil, err
	}
	a := asking(ctx, r)
	out := &Overview{Attention: []Attention{}}
	var shown []*entry
	counts := map[*entry]*TargetCounts{}
	urgent := make([][]Attention, 2*len(causes))
	for _, e := range w.entries {
		if !a.may("list", e.candidate.Setup.Row, e.ref.Namespace) {
			continue
		}
		matches := p.has(e.ref.String())
		if matches {
			shown = append(shown, e)
		}
		counts[e] = c.counts(e.ref)
		for _, call := range e.all(counts[e]) {
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
	for i := range out.Attention {
		if call := &out.Attention[i]; call.Object.Name != "" && call.Cause == RejectedObject && !a.details(call.Object) {
			call.Message = "rejected; " + hiddenDetails(call.Object)
		}
	}
	entries, part, err := take(shown, p, func(e **entry) string { return keyOfRef((*e).ref) })
	if err != nil {
		return nil, err
	}
	out.Part, out.Workloads = part, make([]WorkloadRow, 0, len(entries))
	for _, e := range entries {
		out.Workloads = append(out.Workloads, e.visible(a, counts[e]))
	}
	out.Unread = appendNew(slices.Clone(w.unread), a.unread...)
	return out, nil
}

// visible is the row without what the caller may not read.
func (e *entry) visible(a *asker, counts *TargetCounts) WorkloadRow {
	row := e.row(counts)
	if calls := e.all(counts); len(calls) > 0 && calls[0].Cause == RejectedObject && !a.details(calls[0].Object) {
		row.Message = "rejected; " + hiddenDetails(calls[0].Object)
	}
	return row
}
