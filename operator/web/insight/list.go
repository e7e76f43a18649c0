package insight

import (
	"context"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Objects implements [Answers]. It considers only the objects that the caller may list. The state of
// an object depends on all workloads, as in [Cluster.Explain].
func (c *Cluster) Objects(ctx context.Context, r access.Rights, q ObjectQuery) (*ObjectList, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if _, read := w.objects[q.Row]; !read {
		return nil, notSelectable(q.Row)
	}
	a := w.checker(ctx, r)
	if before := len(a.Unread); !a.May("list", q.Row, q.Namespace) && len(a.Unread) == before { // otherwise the check failed
		a.Unread = append(a.Unread, elsewhere(q.Row, q.Namespace))
	}
	out := &ObjectList{Kind: q.Row.Kind, Counts: map[status.State]int{}}
	may := w.listable(a, q)
	all := w.listed(may, q, out.Counts)
	if out.Items, out.Part, err = take(all, q.Page, func(o *ObjectRow) string { return keyOfRef(o.Ref) }); err != nil {
		return nil, err
	}
	out.Namespaces = w.suggested(a, q, may)
	for i := range out.Items {
		if o := &out.Items[i]; o.Message != "" && !a.MayGet(o.Ref) {
			o.Message = access.Hidden(o.Ref)
		}
	}
	if why, is := w.unlisted[q.Row]; is {
		out.Unread = append(out.Unread, why)
	}
	out.Unread = access.AppendNotes(out.Unread, a.Unread...)
	return out, nil
}

// elsewhere returns the note that the caller may not list a kind in a namespace, "" for all.
func elsewhere(row *catalog.Row, namespace string) string {
	if namespace != "" {
		return "no permission to list " + row.Resource + " in namespace " + namespace
	}
	return "no permission to list " + row.Resource + " in all namespaces: those elsewhere are not shown"
}

// listable returns the namespaces of a query in which the caller may list the objects. They are in order, so
// that the same ones are left out each time if there are too many to review.
func (w *snapshot) listable(a *access.Checker, q ObjectQuery) map[string]bool {
	may := map[string]bool{}
	for _, n := range w.spaces()[q.Row] {
		if q.Namespace == "" || q.Namespace == n {
			may[n] = a.May("list", q.Row, n)
		}
	}
	return may
}

// maxSuggested limits the namespaces to suggest.
const maxSuggested = 100

// suggested returns the namespaces to suggest for a query without further permission checks.
func (w *snapshot) suggested(a *access.Checker, q ObjectQuery, may map[string]bool) (out []string) {
	everywhere := a.May("list", q.Row, "")
	for _, n := range w.spaces()[q.Row] {
		if (everywhere || may[n]) && len(out) < maxSuggested {
			out = append(out, n)
		}
	}
	return out
}

// findSpaces returns the namespaces with objects of each kind, sorted.
func (w *snapshot) findSpaces() map[*catalog.Row][]string {
	out := map[*catalog.Row][]string{}
	for row, objects := range w.objects {
		all := map[string]bool{}
		for _, o := range objects {
			all[o.GetNamespace()] = true
		}
		out[row] = slices.Sorted(maps.Keys(all))
	}
	return out
}

// listed returns the rows that match a query, sorted, and counts those of all states.
func (w *snapshot) listed(may map[string]bool, q ObjectQuery, counts map[status.State]int) (out []ObjectRow) {
	states := w.standings()
	for _, o := range w.objects[q.Row] {
		ref := catalog.RefOf(q.Row.Kind, o)
		if !may[ref.Namespace] || q.Namespace != "" && q.Namespace != ref.Namespace || !q.has(ref.String()) {
			continue
		}
		row := states[ref]
		if row.State == "" { // selected by no workload, but possibly by an unknown one
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

// findStandings returns the states of all objects, except those for which it is unknown whether a
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
