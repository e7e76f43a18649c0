package lint

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// made is a workload and the result of reconciling it.
type made struct {
	workload dryrun.Workload
	outcome  dryrun.Outcome
}

// reconcile reconciles a workload and records the outcome in l.made.
func (l *linter) reconcile(w dryrun.Workload) dryrun.Outcome {
	out := l.objects.Reconcile(w)
	l.made = append(l.made, made{w, out})
	return out
}

// nearMisses reports jobs without targets, duplicate targets, and missing permissions of
// ServiceAccounts.
func (l *linter) nearMisses() {
	var outcomes []dryrun.Outcome
	for _, m := range l.made {
		if !l.standsIn(m.workload.String()) {
			outcomes = append(outcomes, m.outcome)
		}
	}
	view := static.View(l.objects, outcomes)
	l.aboutNatives(view)
	for _, m := range l.made {
		w := m.workload
		uses := static.Uses(w, m.outcome)
		found := view.Assumed(uses)
		if !l.standsIn(w.String()) && m.outcome.Err == nil {
			found = view.Workload(w.Kind.Kind, w.Object, uses)
		}
		for _, f := range found {
			owner := w.String()
			if f.Object == catalog.Object(w.Object) {
				owner = ""
			}
			l.hint(f.Use, f.Hint, owner)
		}
		l.webhooks(view, m)
		if !l.standsIn(m.workload.String()) {
			l.jobNames(view, m)
		}
	}
}

// aboutNatives reports Services that are meant for pods of workloads and do not lead to them, and annotations that
// nothing reads.
func (l *linter) aboutNatives(view *nearmiss.View) {
	found := append(view.Fronts(), view.Hooks()...)
	var uses []nearmiss.Use
	reads, servers := false, 0
	for _, m := range l.made {
		f := v1alpha1.CommonFields(m.workload.Object)
		if f == nil || l.standsIn(m.workload.String()) {
			continue
		}
		servers++
		reads = reads || f.AdditionalScrapeConfigs != nil || m.outcome.Err != nil
		uses = append(uses, static.Uses(m.workload, m.outcome)...)
	}
	if servers > 0 && !reads {
		found = append(found, view.Annotated(uses)...)
	}
	for _, f := range found {
		at := Finding{Severity: SeverityWarning, Code: string(f.Hint.Code), Kind: f.Kind, Namespace: f.Namespace, Name: f.Name, Field: f.Hint.Field, Message: f.Hint.Message}
		if f.Hint.Note {
			at.Severity = SeverityNote
		}
		l.add(at, "")
	}
}

// webhooks reports URLs of the AlertmanagerConfigs of an Alertmanager that lead to no Service.
func (l *linter) webhooks(view *nearmiss.View, m made) {
	own := m.workload.Object.GetNamespace()
	if l.standsIn(m.workload.String()) {
		own = ""
	}
	for _, v := range m.outcome.Verdicts {
		if c, is := v.Object.(*v1alpha1.AlertmanagerConfig); is && v.Err == nil {
			for _, h := range view.Webhooks(c, own) {
				l.hint(nearmiss.Use{Kind: v.Kind, Object: c}, h, m.workload.String())
			}
		}
	}
}

// hint records a hint about an object. It skips a remark about a field that already has one.
func (l *linter) hint(at nearmiss.Use, h nearmiss.Hint, owner string) {
	f := Finding{
		Severity: SeverityWarning, Code: string(h.Code), Kind: at.Kind, Namespace: at.Object.GetNamespace(), Name: at.Object.GetName(),
		Field: h.Field, Message: h.Message,
	}
	if h.Note {
		f.Severity = SeverityNote
	}
	if h.Counterpart {
		f.File, f.Line = l.locate(f)
		f.Workloads = []string{owner}
		l.counterparts = append(l.counterparts, f)
		return
	}
	if h.Code == nearmiss.Remark && slices.ContainsFunc(l.findings, func(g Finding) bool {
		return g.Code == CodeRemark && g.Field == f.Field && g.Kind == f.Kind && g.Namespace == f.Namespace && g.Name == f.Name
	}) {
		return
	}
	l.add(f, owner)
}
