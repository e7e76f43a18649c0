package insight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxAttention limits the problems per page. maxUnselected limits the objects that no workload
// selects.
const (
	maxAttention  = 100
	maxUnselected = 100
)

// Overview implements [Answers].
func (c *Cluster) Overview(ctx context.Context, r access.Rights, q OverviewQuery) (*Overview, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	a := w.checker(ctx, r)
	a.NoteUnlisted(c.Setups)
	out := &Overview{Unselected: []catalog.Ref{}, Levels: map[Level]int{}, Health: map[Health]int{}, AsOf: c.asOf(w)}
	var shown []*entry
	seen := map[*entry]visible{}
	found := newProblems()
	for _, e := range w.entries {
		if !q.within(e.ref) || !a.May("list", e.candidate.Setup.Row, e.ref.Namespace) {
			continue
		}
		v := visible{counts: c.counts(a, e.ref)}
		v.calls = e.visibleCalls(a, v.counts)
		seen[e] = v
		matches, level := q.has(e.ref.String()), e.level(v.counts)
		if matches {
			out.Levels[level]++
		}
		if q.Level != "" && q.Level != level {
			continue
		}
		if matches {
			shown = append(shown, e)
			out.Health[e.state(v.counts)]++
		}
		for _, call := range v.calls {
			if matches || q.has(call.Object.String()) {
				found.add(&call)
			}
		}
	}
	out.Attention, out.AttentionTotal, out.Groups = found.attention(), found.total, found.groups()
	entries, part, err := take(shown, q.Page, func(e **entry) string { return keyOfRef((*e).ref) })
	if err != nil {
		return nil, err
	}
	out.Part, out.Workloads = part, make([]WorkloadRow, 0, len(entries))
	for _, e := range entries {
		out.Workloads = append(out.Workloads, seen[e].row(e))
	}
	for _, ref := range w.unselectedByAny() {
		if q.unselected(ref) && a.MayGet(ref) {
			if out.UnselectedTotal++; len(out.Unselected) < maxUnselected {
				out.Unselected = append(out.Unselected, ref)
			}
		}
	}
	out.Namespaces = w.suggestedFor(access.NewChecker(ctx, r), shown) // suggestions need no notes
	out.Unread = access.AppendNotes(slices.Clone(w.unread), a.Unread...)
	return out, nil
}

// suggestedFor returns the namespaces to suggest: those of workloads, and those of objects that the
// caller may list everywhere.
func (w *snapshot) suggestedFor(a *access.Checker, workloads []*entry) []string {
	all := map[string]bool{}
	for _, e := range workloads {
		all[e.ref.Namespace] = true
	}
	for row, names := range w.spaces() {
		if a.May("list", row, "") {
			for _, n := range names {
				all[n] = true
			}
		}
	}
	out := slices.Sorted(maps.Keys(all))
	return out[:min(len(out), maxSuggested)]
}

// within reports whether the query is about a workload, regardless of names and levels.
func (q OverviewQuery) within(w catalog.Ref) bool {
	return (q.Kind == "" || q.Kind == w.Kind) && (q.Namespace == "" || q.Namespace == w.Namespace)
}

// unselected reports whether the query selects an object that no workload selects.
func (q OverviewQuery) unselected(o catalog.Ref) bool {
	return q.Level == "" && q.Kind == "" && (q.Namespace == "" || q.Namespace == o.Namespace) && q.has(o.String())
}

// asOf returns when the data of a snapshot was last known to be current.
func (c *Cluster) asOf(w *snapshot) time.Time {
	if w.version != "" && w.outdated == "" {
		return c.Now()
	}
	return w.at
}

// findUnselected returns the objects that no workload selects, sorted. It returns nil if namespace
// labels are not known.
func (w *snapshot) findUnselected() (out []catalog.Ref) {
	if w.namespacesUnread != "" {
		return nil
	}
	selected := map[catalog.Ref]bool{}
	for _, e := range w.entries {
		for ref := range e.states {
			selected[ref] = true
		}
		if e.statesUnknown && e.report.Unmanaged == "" {
			return nil // it may select any object
		}
	}
	for row, objects := range w.objects {
		others := w.selectorsElsewhere(row.Kind)
		for _, o := range objects {
			ref := catalog.RefOf(row.Kind, o)
			if !selected[ref] && o.GetDeletionTimestamp() == nil && !w.selectedBy(others, o) {
				out = append(out, ref)
			}
		}
	}
	slices.SortFunc(out, compareRefs)
	return out
}

// selectors are different rules with which workloads select objects of one kind.
type selectors struct {
	own    map[string][]selection.Rule // by the only namespace of their objects
	others []selection.Rule
	named  map[types.NamespacedName]bool // objects that workloads refer to by name
}

// selectorsElsewhere returns the selectors of a kind that are not in the states of entries: of workloads whose entry is
// older than the snapshot, or that another operator runs.
func (w *snapshot) selectorsElsewhere(kind string) selectors {
	out := selectors{own: map[string][]selection.Rule{}, named: map[types.NamespacedName]bool{}}
	known := map[string]bool{}
	for _, e := range w.entries {
		rule, has := e.rules[kind]
		if !has {
			continue
		}
		for _, name := range rule.Named() {
			out.named[name] = true
		}
		if e.report.Unmanaged == "" && !w.behind[e] {
			continue
		}
		if key := rule.Naming().Key(); !known[key] {
			known[key] = true
			if namespace, only := rule.Own(); only {
				out.own[namespace] = append(out.own[namespace], rule)
			} else {
				out.others = append(out.others, rule)
			}
		}
	}
	return out
}

// selectedBy reports whether one of the selectors selects an object, or it is referred to by name.
func (w *snapshot) selectedBy(s selectors, o catalog.Object) bool {
	selects := func(rule selection.Rule) bool { return w.selects(rule, o) }
	return s.named[catalog.KeyOf(o)] ||
		slices.ContainsFunc(s.own[o.GetNamespace()], selects) || slices.ContainsFunc(s.others, selects)
}

// visibleCalls returns the problems of a workload. Problems of objects that the caller may not get
// are merged into a count.
func (e *entry) visibleCalls(a *access.Checker, counts *TargetCounts) []Attention {
	all := e.all(counts)
	hidden := map[Cause]int{}
	for i := range all {
		if all[i].Object.Name != "" && !a.MayGet(all[i].Object) {
			hidden[all[i].Cause]++
		}
	}
	if len(hidden) == 0 {
		return all
	}
	var out []Attention
	for _, call := range all {
		if call.Object.Name != "" && !a.MayGet(call.Object) {
			n := hidden[call.Cause]
			if n == 0 {
				continue // already counted
			}
			hidden[call.Cause] = 0
			call.Object, call.Message, call.Fix, call.Command = catalog.Ref{}, fmt.Sprintf(hiddenCalls[call.Cause], n), "", ""
		}
		out = append(out, call)
	}
	return out
}

// hiddenCalls are the messages about objects that the caller may not get, by cause.
var hiddenCalls = map[Cause]string{
	RejectedObject: "objects that you may not get are rejected: %d",
	NoTargets:      "objects that you may not get have no targets: %d",
	Overlapping:    "objects that you may not get have targets that other jobs scrape too: %d",
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
		row.Message = v.calls[0].text()
	}
	return row
}
