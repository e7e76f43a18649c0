package insight

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxNames limits the objects in a group on the page of a workload, and maxGroups the groups of a
// kind. Counts includes all of them.
const (
	maxNames  = 20
	maxGroups = 20
)

// Workload implements [Answers].
func (c *Cluster) Workload(ctx context.Context, r access.Rights, o Object) (*Workload, error) {
	w, e, err := c.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	a := w.checker(ctx, r)
	counts := c.counts(a, e.ref)
	out := &Workload{
		Report: e.report, State: e.state(counts), Version: versionOfWorkload(e), Shards: len(e.shape.Sets), ConfigSince: e.since, Targets: counts.all(),
		Counts: map[string]map[status.State]int{},
	}
	if e.shape.DaemonSet == "" {
		out.PerShard = counts.perShard()
	}
	found := newProblems()
	for _, call := range e.all(counts) {
		if call.Object.Name != "" && !a.MayGet(call.Object) {
			call.Message = call.Title + "; the reason is " + access.Hidden(call.Object)
		}
		found.add(&call)
	}
	out.Attention, out.AttentionTotal, out.Groups = found.attention(), found.total, found.groups()
	out.CanQuery, out.QueryDenied = c.mayQuery(a, e.ref)
	out.UI, out.Changes = e.ui(), e.changes(e.pods(nil, c.Loaded))
	out.Deliveries = c.deliveries(a, e)
	out.Objects = e.objects(a)
	for ref, v := range e.states {
		out.count(ref.Kind, v.state, 1)
	}
	if e.report.Unmanaged == "" {
		for _, s := range e.candidate.Setup.Selects {
			selected := 0
			for _, n := range out.Counts[s.Kind] {
				selected += n
			}
			for state, n := range w.others(e, s.Row, selected, a) {
				out.count(s.Kind, state, n)
			}
		}
	}
	events, err := c.events(ctx, e)
	out.Events, out.Unread = events, access.AppendNotes(slices.Clone(e.report.Unread), a.Unread...)
	if err != nil {
		out.Unread = access.AppendNotes(out.Unread, readers.Missing{Query: readers.Query{GroupVersionResource: readers.Events, Namespace: e.ref.Namespace}, Err: err}.String())
	}
	return out, nil
}

// others returns the numbers of unselected and undecided objects that the caller may get, by state; without permission in
// all namespaces only of those in the namespace of the workload.
func (w *snapshot) others(e *entry, row *catalog.Row, selected int, a *access.Checker) map[status.State]int {
	all := a.May("get", row, "")
	if all && !e.statesUnknown && w.namespacesUnread == "" && !w.behind[e] {
		return map[status.State]int{status.NotSelected: len(w.objects[row]) - selected}
	}
	out := map[status.State]int{}
	for _, o := range w.objects[row] {
		ref := catalog.RefOf(row.Kind, o)
		if _, selected := e.states[ref]; selected || !all && (ref.Namespace != e.ref.Namespace || !a.MayGet(ref)) {
			continue
		}
		out[w.unselected(e, row.Kind, o)]++
	}
	return out
}

// unselected returns the state of an unselected or undecided object.
func (w *snapshot) unselected(e *entry, kind string, o catalog.Object) status.State {
	if e.report.Unmanaged == "" && o.GetDeletionTimestamp() == nil && (e.statesUnknown || w.undecided(e.rules[kind], o) || w.behind[e] && w.selects(e.rules[kind], o)) {
		return status.Unknown
	}
	return status.NotSelected
}

func (w *Workload) count(kind string, s status.State, n int) {
	if n == 0 {
		return
	}
	if w.Counts[kind] == nil {
		w.Counts[kind] = map[status.State]int{}
	}
	w.Counts[kind][s] += n
}

// objects returns the objects that the workload selects, truncated, with messages redacted that the
// caller may not see.
func (e *entry) objects(a *access.Checker) []status.Objects {
	out := make([]status.Objects, 0, len(e.report.Objects))
	for _, of := range e.report.Objects {
		shown := status.Objects{Kind: of.Kind, Groups: []status.Group{}}
		for _, g := range of.Groups[:min(len(of.Groups), maxGroups)] {
			g.Names = g.Names[:min(len(g.Names), maxNames)]
			for _, name := range g.Names {
				own := status.Group{State: g.State, Message: g.Message, Names: []string{name}}
				if ref := refOf(of.Kind, name); g.Message != "" && !a.MayGet(ref) {
					own.Message = access.Hidden(ref)
				}
				addTo(&shown, own)
			}
		}
		out = append(out, shown)
	}
	return out
}

// addTo adds an object to the group with the same state and message. So groups do not reveal which hidden messages are
// equal, nor that one is equal to a message that is not hidden.
func addTo(shown *status.Objects, o status.Group) {
	for i := range shown.Groups {
		if g := &shown.Groups[i]; g.State == o.State && g.Message == o.Message {
			g.Names = append(g.Names, o.Names...)
			return
		}
	}
	shown.Groups = append(shown.Groups, o)
}

// events returns the recent Events of the workload and its pods, StatefulSets and DaemonSet.
func (c *Cluster) events(ctx context.Context, e *entry) ([]status.Event, error) {
	about := map[string]bool{e.ref.Kind + " " + e.ref.Name: true, "DaemonSet " + e.shape.DaemonSet: true}
	for _, s := range e.shape.Sets {
		about["StatefulSet "+s.Name] = true
	}
	for _, p := range e.report.Pods {
		about["Pod "+p.Name] = true
	}
	list, err := c.Reader.List(ctx, readers.Query{GroupVersionResource: readers.Events, Namespace: e.ref.Namespace, Keep: func(o readers.Object) readers.Object {
		event, is := o.(*corev1.Event)
		if !is || !about[event.InvolvedObject.Kind+" "+event.InvolvedObject.Name] {
			return nil
		}
		return event.DeepCopy() // does not retain the rest of the list
	}})
	if err != nil {
		return []status.Event{}, err
	}
	events := make([]corev1.Event, 0, len(list))
	for _, o := range list {
		events = append(events, *o.(*corev1.Event))
	}
	return status.EventsOf(events), nil
}

// Sources implements [Answers].
func (c *Cluster) Sources(ctx context.Context, r access.Rights, o Object, q SourceQuery) (*Sources, error) {
	w, e, err := c.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	a := w.checker(ctx, r)
	out := &Sources{Workload: e.ref, Counts: map[status.State]int{}, Items: []Source{}}
	all := w.sources(e, a, out.Counts, q)
	refs, part, err := take(all, q.Page, func(s *sourceRow) string { return keyOfRef(s.Ref) })
	if err != nil {
		return nil, err
	}
	out.Part = part
	counts, facts := c.counts(a, e.ref), e.facts
	facts.NamespaceLabels, facts.NamespaceUnknown, facts.NamespaceHidden, facts.References = w.namespaceLabels, w.namespaceUnknown(), a.HidesNamespace, c.Reader.References(ctx)
	for _, s := range refs {
		out.Items = append(out.Items, e.source(facts, a, s, counts))
	}
	out.Unread = access.AppendNotes(slices.Clone(e.report.Unread), a.Unread...)
	return out, nil
}

// sourceRow is an object that a workload could select. The reason why it is not selected is
// computed only for the rows of a page.
type sourceRow struct {
	catalog.Ref
	state  status.State
	object catalog.Object
	row    *catalog.Row
}

// sources returns the objects that match a query, sorted, and counts all by state. It skips
// unselected objects that the caller may not get.
func (w *snapshot) sources(e *entry, a *access.Checker, counts map[status.State]int, q SourceQuery) (out []sourceRow) {
	for _, s := range e.candidate.Setup.Selects {
		for _, o := range w.objects[s.Row] {
			ref := catalog.RefOf(s.Kind, o)
			v, selected := e.states[ref]
			state := v.state
			if !selected {
				if !a.MayGet(ref) {
					continue
				}
				state = w.unselected(e, s.Kind, o)
			}
			counts[state]++
			if (q.State == "" || q.State == state) && (q.Kind == "" || strings.EqualFold(q.Kind, s.Kind)) && q.has(ref.String()) {
				out = append(out, sourceRow{ref, state, o, s.Row})
			}
		}
	}
	slices.SortFunc(out, func(a, b sourceRow) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// source returns the response for an object.
func (e *entry) source(facts status.Facts, a *access.Checker, s sourceRow, counts *TargetCounts) Source {
	out := Source{Ref: s.Ref, State: s.state}
	v, selected := e.states[s.Ref]
	switch {
	case !selected:
		if state, message := unselected(facts, s); state == status.Unknown {
			out.State, out.Message = state, message
		} else {
			out.Message = message
		}
	case v.message != "" && !a.MayGet(s.Ref):
		out.Message = access.Hidden(s.Ref)
	default:
		out.Message = v.message
	}
	if v.state == status.Accepted && v.jobs > 0 {
		out.Jobs = promconfig.JobNamesOf(s.Kind, s.object, v.jobs)
	}
	if counts != nil {
		if own, known := counts.Objects[s.Ref]; known {
			out.Targets = &own
		}
	}
	return out
}

// unselected returns the reason why an object is not selected. A panic is returned as the reason.
func unselected(facts status.Facts, s sourceRow) (state status.State, message string) {
	defer func() {
		if p := recover(); p != nil {
			state, message = status.Unknown, dryrun.Panicked(p).Error()
		}
	}()
	state, message = status.Unselected(facts, s.row, s.object)
	return state, brief(message)
}
