package insight

import (
	"context"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

// Objects implements [Answers]. It considers only the objects that the caller may list. The state of
// an object depends on all workloads, as in [Cluster.Explain].
func (c *Cluster) Objects(ctx context.Context, r Rights, q ObjectQuery) (*ObjectList, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if _, read := w.objects[q.Row]; !read {
		return nil, notSelectable(q.Row)
	}
	a := w.asking(ctx, r)
	if before := len(a.unread); !a.may("list", q.Row, q.Namespace) && len(a.unread) == before { // else the check failed
		a.unread = append(a.unread, elsewhere(q.Row, q.Namespace))
	}
	out := &ObjectList{Kind: q.Row.Kind, Counts: map[status.State]int{}}
	all := w.listed(a, q, out.Counts)
	if out.Items, out.Part, err = take(all, q.Page, func(o *ObjectRow) string { return keyOfRef(o.Ref) }); err != nil {
		return nil, err
	}
	for i := range out.Items {
		if o := &out.Items[i]; o.Message != "" && !a.details(o.Ref) {
			o.Message = hiddenDetails(o.Ref)
		}
	}
	if why, is := w.unlisted[q.Row]; is {
		out.Unread = append(out.Unread, why)
	}
	out.Unread = appendNew(out.Unread, a.unread...)
	return out, nil
}

// elsewhere returns the note that the caller may not list a kind in a namespace, "" for all.
func elsewhere(row *catalog.Row, namespace string) string {
	if namespace != "" {
		return "no permission to list " + row.Resource + " in namespace " + namespace
	}
	return "no permission to list " + row.Resource + " in all namespaces: those elsewhere are not shown"
}

// listed returns the rows that match a query, sorted, and counts those of all states.
func (w *snapshot) listed(a *asker, q ObjectQuery, counts map[status.State]int) (out []ObjectRow) {
	may, states := map[string]bool{}, w.standings()
	for _, o := range w.objects[q.Row] {
		ref := catalog.RefOf(q.Row.Kind, o)
		if q.Namespace != "" && q.Namespace != ref.Namespace || !q.has(ref.String()) {
			continue
		}
		allowed, known := may[ref.Namespace]
		if !known {
			allowed = a.may("list", q.Row, ref.Namespace)
			may[ref.Namespace] = allowed
		}
		if !allowed {
			continue
		}
		row := states[ref]
		if row.State == "" { // selected by no workload, but perhaps by one that is not known
			row.State = status.Unknown
		}
		counts[row.State]++
		if q.State == "" || q.State == row.State {
			row.Ref = ref
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b ObjectRow) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// findStandings returns the states of all objects, without those of which it is not known whether a
// workload selects them.
func (w *snapshot) findStandings() map[catalog.Ref]ObjectRow {
	out := map[catalog.Ref]ObjectRow{}
	for _, ref := range w.unselectedByAny() {
		out[ref] = ObjectRow{State: status.NotSelected}
	}
	for _, e := range w.entries {
		for ref, v := range e.states {
			row := out[ref]
			switch v.state {
			case status.Accepted:
				row.Accepted++
			case status.Rejected:
				if row.Rejected++; row.Rejected == 1 {
					row.Message = e.ref.String() + ": " + v.message
				}
			}
			if urgency(v.state) > urgency(row.State) {
				row.State = v.state
			}
			out[ref] = row
		}
	}
	return out
}

// urgency orders the states of an object in several workloads: the highest is shown.
func urgency(s status.State) int {
	return slices.Index([]status.State{status.NotSelected, status.Accepted, status.Unknown, status.Rejected}, s)
}
