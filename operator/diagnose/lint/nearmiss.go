package lint

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// mostKept is the maximum number of results in the outcomes that are kept, of some kilobytes each. Memory must not grow with
// the number of workloads times that of the objects: outcomes beyond it are recomputed on demand.
var mostKept = 100_000 // replaced in tests

// made is a workload and the result of reconciling it.
type made struct {
	workload dryrun.Workload
	outcome  dryrun.Outcome
	short    bool // outcome has only the error and, of the plan, workload and reason; see [linter.outcome]
	// annotated reports whether jobs of ScrapeConfigs may read annotations.
	annotated bool
}

// reconcile reconciles a workload and records the outcome in l.made.
func (l *linter) reconcile(w dryrun.Workload) dryrun.Outcome {
	out := l.objects.Reconcile(w)
	m := made{workload: w, outcome: out}
	own := out
	own.Results = nil
	for _, v := range out.Results {
		if v.Kind == catalog.ScrapeConfig.Kind {
			own.Results = append(own.Results, v)
		}
	}
	m.annotated = nearmiss.ReadAnnotations(static.Uses(w, own))
	if l.kept += len(out.Results); l.kept > mostKept {
		l.kept -= len(out.Results)
		m.short, m.outcome = true, dryrun.Outcome{Err: out.Err, Plan: engine.Plan{Workload: out.Plan.Workload, Reason: out.Plan.Reason}}
	}
	l.made = append(l.made, m)
	return out
}

// outcome returns the whole outcome of a workload.
func (l *linter) outcome(m made) dryrun.Outcome {
	if m.short {
		return l.objects.Reconcile(m.workload)
	}
	return m.outcome
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
		w, outcome := m.workload, l.outcome(m)
		uses := static.Uses(w, outcome)
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
		l.webhooks(view, w, outcome.Results)
		if !l.standsIn(w.String()) {
			l.jobNames(view, w, outcome.Results, uses)
		}
	}
}

// aboutNatives reports Services that are meant for pods of workloads and do not lead to them, and annotations that
// nothing reads.
func (l *linter) aboutNatives(view *nearmiss.View) {
	found := append(view.Fronts(), view.Hooks()...)
	reads, servers := false, 0
	for _, m := range l.made {
		f := v1alpha1.CommonFields(m.workload.Object)
		if f == nil || l.standsIn(m.workload.String()) {
			continue
		}
		servers++
		reads = reads || f.AdditionalScrapeConfigs != nil || m.outcome.Err != nil || m.annotated
	}
	if servers > 0 && !reads {
		found = append(found, view.Annotated()...)
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
func (l *linter) webhooks(view *nearmiss.View, w dryrun.Workload, all []fragments.Result) {
	own := w.Object.GetNamespace()
	if l.standsIn(w.String()) {
		own = ""
	}
	for _, v := range all {
		if c, is := v.Object.(*v1alpha1.AlertmanagerConfig); is && v.Err == nil {
			for _, h := range view.Webhooks(c, own) {
				l.hint(nearmiss.Use{Kind: v.Kind, Object: c}, h, w.String())
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
		l.record(&l.counterparts, f, owner)
		return
	}
	if h.Code == nearmiss.Remark && slices.ContainsFunc(l.findings, func(g Finding) bool {
		return g.Code == CodeRemark && g.Field == f.Field && g.Kind == f.Kind && g.Namespace == f.Namespace && g.Name == f.Name
	}) {
		return
	}
	l.add(f, owner)
}
