package page

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Limits of the page of a target.
const (
	maxLabels   = 60
	maxEditable = 20_000 // bytes of a manifest in a form, escaped
)

// trace is a target with its relabel steps.
type trace struct {
	*insight.Trace
	In, Out         []label
	MoreIn, MoreOut int
	Steps           []traceStep
	MoreSteps       int
	Edit            editor
}

type label struct{ Name, Value string }

// traceStep is a relabel step with its changes to labels.
type traceStep struct {
	insight.Step
	Number  int
	Changes []change
}

// change is an added, changed or removed label.
type change struct{ Sign, What, Name, Before, After string }

func targetPage(q *request) (*view, error) {
	if err := q.allow("job", "id", "source", "edit"); err != nil {
		return nil, err
	}
	for _, p := range []string{"job", "id"} {
		if q.query.Get(p) == "" {
			return nil, bad(p, "not given")
		}
	}
	ask := false
	answer, err := q.answers.Target(q.Context(), q.rights, q.of, q.query.Get("job"), q.query.Get("id"), q.query.Get("source"))
	if err == nil && q.query.Get("edit") == "" { // it may contain credentials that its author wrote into it
		without := *answer
		without.Manifest = ""
		ask = answer.Manifest != ""
		answer = &without
	}
	if err != nil || q.twin {
		return &view{Answer: answer}, err
	}
	out := trace{Trace: answer, Edit: q.editorOf(answer.Object, answer.Manifest, ask)}
	n := min(maxLabels, q.limit)
	out.In, out.MoreIn = labelRows(n, answer.Target.Discovered)
	out.Out, out.MoreOut = labelRows(n, answer.Target.Labels)
	steps, more := first(n, answer.Steps)
	out.MoreSteps = more
	now := maps.Clone(answer.Target.Discovered)
	for i, s := range steps {
		out.Steps = append(out.Steps, traceStep{s, i + 1, changes(n, now, s)})
	}
	address, _, _ := strings.Cut(cmp.Or(answer.Target.URL, answer.Target.ID), "?")
	v := q.view("target", "Target "+address)
	v.Crumbs = append(v.Crumbs, link{"Targets", v.Tab(v.About, "targets")}, link{"Target", q.self()})
	v.Twins = []link{{"this target", v.twin(q.self())}}
	v.Data = out
	return v, nil
}

// editable reports whether a form can contain the manifest.
func editable(manifest string) bool {
	return len(manifest) <= maxEditable && len(template.HTMLEscapeString(manifest)) <= maxEditable
}

func labelRows(n int, of map[string]string) (rows []label, more int) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, label{name, of[name]})
	}
	return first(n, rows)
}

// changes returns up to n changes of a step. labels are the known labels before the step, nil if they are unknown;
// changes updates them to those after it.
func changes(n int, labels map[string]string, s insight.Step) (out []change) {
	for _, name := range slices.Sorted(maps.Keys(s.Added)) {
		out = append(out, change{"+", "added", name, "", s.Added[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Changed)) {
		out = append(out, change{"~", "changed", name, labels[name], s.Changed[name]})
	}
	for _, name := range slices.Sorted(slices.Values(s.Removed)) {
		out = append(out, change{"−", "removed", name, labels[name], ""})
	}
	if labels != nil {
		maps.Copy(labels, s.Added)
		maps.Copy(labels, s.Changed)
		maps.DeleteFunc(labels, func(name, _ string) bool { return slices.Contains(s.Removed, name) })
	}
	out, _ = first(n, out)
	return out
}

// podPage returns the page with the workloads that scrape a pod.
func podPage(q *request) (*view, error) {
	if err := q.allow(targetParams...); err != nil {
		return nil, err
	}
	of, answer, err := targetsOf(q.Context(), q, insight.TargetQuery{Pod: q.of.NamespacedName})
	if err != nil || q.twin {
		return &view{Answer: answer}, err
	}
	v := q.view("pod", subject(q.of).String())
	v.Twins = []link{{"this page", v.twin(q.self())}}
	v.Data = of
	return v, nil
}
