package insight

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// maxExplained limits the workloads that are fully explained. Those that select the object come
// first.
const maxExplained = 100

// Explain implements [Answers].
func (c *Cluster) Explain(ctx context.Context, r access.Rights, o Object) (*explain.Report, error) {
	w, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	object, err := w.object(o)
	if err != nil {
		return nil, err
	}
	a, ref := w.checker(ctx, r), o.Ref()
	q := explain.Question{
		Row: o.Row, Object: object, Setups: c.Setups, References: c.Reader.References(ctx),
		NamespaceLabels: w.namespaceLabels, NamespaceUnknown: w.namespaceUnknown(), NamespaceHidden: a.HidesNamespace,
	}
	if c.Look != nil {
		q.Look = c.Look(ctx, a.Limit(c.Reader))
	}
	if c.Parts.Targets != nil {
		q.Targets = func(of explain.Candidate) []string { return c.targetLines(a, of.Ref(), ref) }
	}
	var far int
	for _, e := range w.nearestTo(ref, o.Row) {
		_, selects := e.states[ref]
		switch {
		case !selects && !a.MayGet(e.ref):
			// not counted: how many workloads other namespaces have is not for the caller
		case len(q.Workloads) == maxExplained:
			far++
		default:
			q.Workloads = append(q.Workloads, e.candidate)
		}
	}
	report, err := explain.Try(q, c.Scopes.For(o.Row))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	for i := range report.Workloads {
		report.Workloads[i].Message = brief(report.Workloads[i].Message)
		if v := &report.Workloads[i]; !a.MayGet(v.Workload) {
			*v = explain.Result{Workload: v.Workload, Accepted: v.Accepted, Reason: v.Reason, Message: messageTo(v), Jobs: v.Jobs, Targets: v.Targets}
		}
	}
	if !mayGetAll(a, c.Setups, o.Row) {
		report.Findings = append(report.Findings, hiddenWorkloads)
	}
	if far > 0 {
		report.Findings = append(report.Findings, fmt.Sprintf("%d more workloads are left out", far))
	}
	for _, s := range c.Setups {
		if why, is := w.unlisted[s.Row]; is && s.SelectsBy(o.Row.Kind).Row != nil {
			report.Findings = append(report.Findings, why+", so there may be more workloads")
		}
	}
	if w.namespacesUnread != "" {
		report.Findings = append(report.Findings, w.namespacesUnread)
	}
	if a.HidesNamespace(o.Namespace) {
		report.NamespaceLabels = nil
		report.Findings = append(report.Findings, fmt.Sprintf("the labels of namespace %s are not shown: you need permission to get it", o.Namespace))
	}
	report.Findings = append(report.Findings, a.Unread...)
	return &report, nil
}

// hiddenWorkloads is the note on workloads that the caller may not get, whether there are any or not.
const hiddenWorkloads = "workloads that do not select it are only shown with permission to get them"

// mayGetAll reports whether the caller may get all workloads that could select objects of a kind.
func mayGetAll(a *access.Checker, setups []engine.Setup, row *catalog.Row) bool {
	for _, s := range setups {
		if s.SelectsBy(row.Kind).Row == nil {
			continue
		}
		for _, namespace := range s.Instances.Watches() {
			if !a.May("get", s.Row, namespace) {
				return false
			}
		}
	}
	return true
}

// messageTo returns the message of a result for a caller who may not get the workload: nothing that it says itself.
func messageTo(v *explain.Result) string {
	if v.Reason == explain.WorkloadInvalid || v.Reason == explain.OtherController {
		return access.Hidden(v.Workload)
	}
	return v.Message
}

// object returns an object that workloads select.
//
// Errors: it does not exist; its kind is not known.
func (w *snapshot) object(o Object) (catalog.Object, error) {
	resource := o.GroupResource()
	for _, object := range w.objects[o.Row] {
		if catalog.KeyOf(object) == o.NamespacedName {
			return object, nil
		}
	}
	if why, is := w.unlisted[o.Row]; is {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("%s are not known: %s", resource, why))
	}
	if _, read := w.objects[o.Row]; !read {
		return nil, notSelectable(o.Row)
	}
	return nil, w.notFound(o)
}

func notSelectable(row *catalog.Row) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s: no workload selects objects of this kind", row.Resource))
}

// nearestTo returns the workloads, sorted: those that select the object, those that could select
// its kind, and the others.
func (w *snapshot) nearestTo(o catalog.Ref, row *catalog.Row) []*entry {
	out := slices.Clone(w.entries)
	distance := func(e *entry) int {
		if _, selects := e.states[o]; selects {
			return 0
		}
		if e.candidate.Setup.SelectsBy(row.Kind).Row != nil {
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return distance(a) - distance(b) })
	return out
}

// targetLines returns human-readable lines on the targets of an object; nil if they are not known.
func (c *Cluster) targetLines(a *access.Checker, w, object catalog.Ref) []string {
	counts := c.counts(a, w)
	if counts == nil {
		return nil
	}
	own, known := counts.Objects[object]
	if !known {
		return nil
	}
	scraped := own.Kept + own.OtherShard
	line := fmt.Sprintf("%d targets are scraped", scraped)
	if scraped == 1 {
		line = "1 target is scraped"
	}
	switch partial := own.Forbidden+own.Unknown > 0; {
	case partial && scraped == 0:
		line = "how many targets are scraped is not known: see Targets of the object"
	case partial:
		line += "; there may be more, which are not known: see Targets of the object"
	case scraped == 0 && counts.Synced:
		line += why(own)
	}
	if !counts.Synced {
		line += "; the cluster is still being read, so there may be more"
	}
	return []string{line}
}
