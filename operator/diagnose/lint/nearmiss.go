package lint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// mostKept is the maximum number of results in the outcomes that are kept, of some kilobytes each. Memory must not grow with
// the number of workloads times that of the objects: outcomes beyond it are recomputed on demand.
var mostKept = 100_000 // replaced in tests

// made is a workload and the result of reconciling it.
type made struct {
	workload dryrun.Workload
	outcome  dryrun.Outcome
	short    bool // outcome has no results and a part of the plan only; see [linter.outcome]
	alike    *alike
	// annotated reports whether jobs of the ScrapeConfigs of a short outcome may read annotations.
	annotated bool
}

// reconcile reconciles a workload and records the outcome in l.made. It returns the workloads that are like it.
func (l *linter) reconcile(w dryrun.Workload) (dryrun.Outcome, *alike) {
	out := l.objects.Reconcile(w)
	m := made{workload: w, outcome: out, alike: l.alikeOf(w, out)}
	switch {
	case m.alike != nil && m.alike.kept:
		m.short, m.annotated = true, l.made[m.alike.first].annotated
	case l.kept+len(out.Results) > mostKept:
		m.short, m.annotated = true, l.annotated(w, out)
	default:
		l.kept += len(out.Results)
		if m.alike != nil {
			m.alike.kept, m.alike.first = true, len(l.made)
			m.annotated = l.annotated(w, out)
		}
	}
	if m.short {
		m.outcome = dryrun.Outcome{Err: out.Err, Plan: engine.Plan{Content: namesOnly(out.Plan.Content), Workload: out.Plan.Workload, Reason: out.Plan.Reason}}
	}
	l.made = append(l.made, m)
	return out, m.alike
}

// namesOnly returns steps whose Secrets and ConfigMaps have only their names.
func namesOnly(steps []apply.Step) []apply.Step {
	out := make([]apply.Step, len(steps))
	for i, s := range steps {
		out[i] = apply.Step{Verb: s.Verb, Object: s.Object}
		meta := metav1.ObjectMeta{Namespace: s.Object.GetNamespace(), Name: s.Object.GetName()}
		switch o := s.Object.(type) {
		case *corev1.Secret:
			out[i].Object = &corev1.Secret{TypeMeta: o.TypeMeta, ObjectMeta: meta}
		case *corev1.ConfigMap:
			out[i].Object = &corev1.ConfigMap{TypeMeta: o.TypeMeta, ObjectMeta: meta}
		}
	}
	return out
}

// outcome returns the whole outcome of a workload. If it is like another one, it has the results of that one, and of the
// content of the plan only the names.
func (l *linter) outcome(m made) dryrun.Outcome {
	switch {
	case !m.short:
		return m.outcome
	case m.alike != nil && m.alike.kept:
		m.outcome.Results = l.made[m.alike.first].outcome.Results
		return m.outcome
	}
	return l.objects.Reconcile(m.workload)
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
		uses := l.targets(view, m)
		if l.standsIn(w.String()) || m.outcome.Err != nil {
			continue
		}
		for _, f := range l.credible(view.Own(w.Kind.Kind, w.Object, uses), uses) {
			l.hint(f.Use, f.Hint, "")
		}
	}
	if view.Crowded() {
		l.crowded()
	}
}

// crowded reports that hints are left out, at the first workload, or the first monitor if no workload is among the manifests.
func (l *linter) crowded() {
	for _, m := range l.made {
		kind, object := m.workload.Kind.Kind, catalog.Object(m.workload.Object)
		if results := l.outcome(m).Results; l.standsIn(m.workload.String()) {
			if len(results) == 0 {
				continue
			}
			kind, object = results[0].Kind, results[0].Object
		}
		l.add(Finding{Severity: SeverityNote, Code: CodeRemark, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), Message: "hints about targets are not complete: " +
			"so many monitors, Services and pods select each other that comparing all of them takes too long; check fewer manifests at a time"}, "")
		return
	}
}

// annotated reports whether jobs of the ScrapeConfigs of a workload may read annotations.
func (l *linter) annotated(w dryrun.Workload, out dryrun.Outcome) bool {
	own := slices.DeleteFunc(slices.Clone(out.Results), func(v fragments.Result) bool { return v.Kind != catalog.ScrapeConfig.Kind })
	return nearmiss.ReadAnnotations(l.reader.Uses(w, dryrun.Outcome{Results: own}))
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
		reads = reads || f.AdditionalScrapeConfigs != nil || m.outcome.Err != nil || m.annotated || !m.short && l.annotated(m.workload, m.outcome)
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
	if h.Code == nearmiss.Remark {
		if l.remarked[f.object()+" "+f.Field] {
			return
		}
		defer l.uncaptured()()
	}
	l.add(f, owner)
}
