package insight

import (
	"io"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// build builds the entry of a workload.
func (k *kept) build(facts status.Facts, shape engine.Shape) *entry {
	e := &entry{
		candidate: facts.Candidate, shape: shape, ref: facts.Ref(), since: k.since, states: map[catalog.Ref]objectState{},
		rules: k.rules, statesUnknown: k.rulesErr != nil,
	}
	jobs := map[catalog.Ref]int{}
	facts.Select = func(c engine.Cluster) ([]fragments.Result, error) {
		results, err := k.compile(e, c)
		for _, v := range results {
			if v.Err == nil && v.Jobs > 0 {
				jobs[catalog.RefOf(v.Kind, v.Object)] = v.Jobs
			}
		}
		return results, err
	}
	var panicked bool
	if e.report, panicked = viewOf(facts); panicked {
		e.statesUnknown = true
	}
	facts.Select, facts.NamespaceLabels, facts.NamespaceUnknown, facts.References = nil, nil, nil, nil // replaced by those of the current snapshot when needed
	e.facts = facts
	shorten(&e.report)
	for _, of := range e.report.Objects {
		for _, g := range of.Groups {
			for _, name := range g.Names {
				ref := refOf(of.Kind, name)
				e.states[ref] = objectState{g.State, g.Message, jobs[ref]}
			}
		}
	}
	e.attention = e.calls()
	return e
}

// longest is the maximum length of a message in bytes. Texts in objects can have any length.
const longest = 1000

// brief truncates a long text.
func brief(text string) string { return excerpt.Of(text, longest) }

// shorten truncates the messages of a report.
func shorten(r *status.Report) {
	r.Invalid = brief(r.Invalid)
	for i := range r.Conditions {
		r.Conditions[i].Message = brief(r.Conditions[i].Message)
	}
	for i := range r.Pods {
		r.Pods[i].Message, r.Pods[i].Why = brief(r.Pods[i].Message), brief(r.Pods[i].Why)
	}
	for _, of := range r.Objects {
		for i := range of.Groups {
			of.Groups[i].Message = brief(of.Groups[i].Message)
		}
	}
}

// viewOf returns the report of a workload. A panic is reported as an error of this workload alone.
func viewOf(facts status.Facts) (out status.Report, failed bool) {
	defer func() {
		if p := recover(); p != nil {
			failed = true
			out = status.Report{
				Workload: facts.Ref(), Conditions: []status.Condition{}, Pods: []status.Pod{}, Objects: []status.Objects{}, Events: []status.Event{},
				Invalid: dryrun.Panicked(p).Error(), Unread: facts.Unread,
			}
		}
	}()
	return status.View(facts), false
}

// compile returns the results on the objects of the workload. Unchanged objects are not
// recompiled.
func (k *kept) compile(e *entry, c engine.Cluster) ([]fragments.Result, error) {
	w := dryrun.Workload{Kind: e.candidate.Setup.Kind, Object: e.candidate.Object}
	k.read = map[assets.Ref]string{}
	references := &recorder{Reader: c.References, read: k.read}
	c.References = references
	c.Current = func(deps []assets.Dependency) bool { return assets.Unchanged(references, deps) }
	if k.gatherer == nil {
		k.gatherer = w.Kind.Open(w.Key())
	}
	return dryrun.SelectWith(k.gatherer, w, c)
}

// textOf returns the compiled text of an object; nil if it was rejected or has a file for itself.
func textOf(v fragments.Result) io.WriterTo {
	if v.Err != nil || v.File != "" {
		return nil
	}
	return v.Text
}

// written returns the text as a string; empty if it is nil or fails to be written.
func written(text io.WriterTo) string {
	if text == nil {
		return ""
	}
	var out strings.Builder
	if _, err := text.WriteTo(&out); err != nil {
		return ""
	}
	return out.String()
}

func refOf(kind, name string) catalog.Ref {
	namespace, own, _ := strings.Cut(name, "/")
	return catalog.Ref{Kind: kind, Namespace: namespace, Name: own}
}

// count returns the number of objects in a state.
func (e *entry) count(s status.State) (n int) {
	for _, v := range e.states {
		if v.state == s {
			n++
		}
	}
	return n
}

// row returns the table row of a workload.
func (e *entry) row(c *TargetCounts) WorkloadRow {
	r := &e.report
	out := WorkloadRow{
		Ref: e.ref, Version: versionOfWorkload(e), Paused: r.Paused, Pods: len(r.Pods),
		Accepted: e.count(status.Accepted), Rejected: e.count(status.Rejected), ConfigSince: e.since,
		Targets: c.all(), PodsUnknown: r.PodsUnknown,
	}
	for _, p := range r.Pods {
		if p.Ready {
			out.Ready++
		}
	}
	calls := e.all(c)
	out.State, out.Level = e.state(c), e.level(c)
	out.Good = r.Unmanaged == "" && len(calls) == 0 && !r.PodsUnknown
	switch {
	case r.Unmanaged != "":
		out.Message = r.Unmanaged
	case len(calls) > 0:
		out.Message = calls[0].text()
	}
	if out.State == Paused {
		out.Message = strings.TrimSuffix("the operator changes nothing; "+out.Message, "; ")
	}
	return out
}

// state returns the health of a workload.
func (e *entry) state(c *TargetCounts) Health {
	switch r := &e.report; {
	case r.Unmanaged != "":
		return Unmanaged
	case r.Invalid != "":
		return Invalid
	case r.Paused:
		return Paused
	case len(e.all(c)) > 0:
		if len(r.Conditions) == 0 && e.all(c)[0].Cause == NotReconciled {
			return Unreconciled
		}
		return NeedsAttention
	case r.PodsUnknown:
		return PodsNotKnown
	}
	return Good
}

// level returns the urgency of the most urgent problem.
func (e *entry) level(c *TargetCounts) Level {
	switch e.state(c) {
	case Good:
		return LevelGood
	case Invalid, NeedsAttention, Unreconciled:
		if calls := e.all(c); len(calls) > 0 && calls[0].Urgency == Warning {
			return LevelWarning
		}
		return LevelBroken
	}
	return LevelOther
}

// text returns the message with the object that has the problem.
func (a *Attention) text() string {
	if a.Object.Name == "" {
		return a.Message
	}
	return a.Object.String() + ": " + a.Message
}

// all returns the counts of all targets; nil if they are not known.
func (t *TargetCounts) all() *preview.Counts {
	if t == nil {
		return nil
	}
	return &t.Counts
}

// versionOfWorkload returns the version in the spec of the workload.
func versionOfWorkload(e *entry) string { return e.candidate.Object.GetWorkloadFields().Version }
