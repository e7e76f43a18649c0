package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Formats are the values of Style.Format: text and wide are human-readable, json and csv are for
// programs.
var Formats = []string{"text", "wide", "json", "csv"}

// Labels are the values of Style.Labels.
var Labels = []string{"before", "after", "both", "none"}

// Style is the output style of a report.
type Style struct {
	Format string
	// Labels are the labels to write with a target: discovered labels (before), labels of its
	// series (after), both or none. It affects text only.
	Labels string
}

// About turns the report into one about an object, based on its results from explain.
func (r *Report) About(object explain.Report) {
	r.object = &object
	for _, v := range object.Workloads {
		if !v.Accepted {
			r.NotUsed = append(r.NotUsed, v)
			continue
		}
		if i := slices.IndexFunc(r.Workloads, func(o WorkloadResult) bool { return o.Ref == v.Workload }); i >= 0 {
			r.Workloads[i].Hints = slices.DeleteFunc(slices.Clone(v.Hints), func(h explain.Hint) bool { return r.Workloads[i].hinted(h) })
		}
	}
}

// hinted reports whether a job has a hint, and adds its place and workload, which only explain knows.
func (o *WorkloadResult) hinted(h explain.Hint) (has bool) {
	for i := range o.Objects {
		for j := range o.Objects[i].Jobs {
			hints := o.Objects[i].Jobs[j].Hints
			if at := slices.IndexFunc(hints, func(own explain.Hint) bool { return own.Hint == h.Hint }); at >= 0 {
				hints[at], has = h, true
			}
		}
	}
	return has
}

// Print writes the report.
//
// Errors: those of the writer.
func (r *Report) Print(w io.Writer, s Style) error {
	switch s.Format {
	case "json":
		return report.JSON(w, r)
	case "csv":
		return r.csv(w)
	}
	var b strings.Builder
	text{&b, r, s}.report()
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes a human-readable report.
type text struct {
	*strings.Builder
	*Report
	Style
}

func (t text) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// report writes the whole report, with the result of the query first, in one line.
func (t text) report() {
	switch q := &t.question; {
	case q.Shards > 0:
		t.resharding()
		return
	case q.OverlapsOnly:
		t.overlaps()
	case t.object != nil && len(t.Workloads) == 0:
		_ = t.object.Write(t, "text") // the builder does not fail
	case q.Pod.Name != "":
		t.pod()
	case len(t.Workloads) == 0 && q.Namespace != "":
		t.line("nothing in namespace %s is scraped", q.Namespace)
		t.unselected()
	case len(t.Workloads) == 0:
		t.line("there is no Prometheus or PrometheusAgent")
	case q.States != nil && len(q.States) == 0:
		t.overview()
	default:
		t.details()
	}
	if t.Omitted > 0 {
		t.line("\n%d of %d targets are listed; --limit=0 lists all", len(t.Items), len(t.Items)+t.Omitted)
	}
	t.comparisons()
}

// overview writes a line for each object.
func (t text) overview() {
	for i := range t.Workloads {
		o := &t.Workloads[i]
		if i > 0 {
			t.line("")
		}
		t.owner(o)
		rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
		for j := range o.Objects {
			object := &o.Objects[j]
			if len(object.Jobs) == 1 {
				fmt.Fprintf(rows, "  %s\t%s\n", object, object.Jobs[0].line())
				continue
			}
			fmt.Fprintf(rows, "  %s\t%s\n", object, object.line())
			for k := range object.Jobs {
				fmt.Fprintf(rows, "    job %s\t%s\n", object.Jobs[k].Name, object.Jobs[k].line())
			}
		}
		_ = rows.Flush()
	}
	t.without()
	t.unselected()
}

// unselected writes the objects that no workload selects, with the reasons.
func (t text) unselected() {
	if len(t.Unselected) == 0 {
		return
	}
	t.line("\nselected by no workload: %d", len(t.Unselected))
	for _, u := range t.Unselected {
		t.line("  %s", u)
	}
}

// line returns the summary of an object with several jobs, or with none.
func (o *Object) line() string {
	if o.State != Accepted {
		return string(o.State) + ": " + strings.ReplaceAll(o.Error, "\n", "; ")
	}
	return o.Counts.String()
}

// line returns the summary of a job, with the reason if it scrapes nothing.
func (j *Job) line() string {
	if j.Counts.Kept == 0 {
		return j.Summary()
	}
	return j.Counts.String()
}

// owner writes the line of a workload and its notes.
func (t text) owner(o *WorkloadResult) {
	head := o.Ref.String()
	if o.Error != "" {
		t.line("%s   targets unknown", head)
		t.line("  %s", strings.ReplaceAll(o.Error, "\n", "\n  "))
		return
	}
	head += "   " + o.Counts.String()
	if len(o.Objects) == 0 {
		head += ": it selects nothing"
	}
	if s := spread(o.PerShard); s != "" {
		head += "   " + s
	}
	if o.PerNode {
		head += "   each pod scrapes those on its own node"
	}
	t.line("%s", head)
	t.notes(o)
}

func (t text) notes(o *WorkloadResult) {
	for _, note := range o.Notes {
		t.line("  note  %s", strings.ReplaceAll(note, "\n", "\n        "))
	}
}

// without lists the jobs that scrape nothing.
func (t text) without() {
	if len(t.WithoutTargets) == 0 {
		return
	}
	t.line("\nwithout targets: %d", len(t.WithoutTargets))
	for _, w := range t.WithoutTargets {
		what := w.Object.String()
		if w.Job != "" {
			what = "job " + w.Job
		}
		t.line("  %s of %s", what, w.Workload)
	}
}

// details writes all jobs with their targets.
func (t text) details() {
	first := true
	gap := func() {
		if !first {
			t.line("")
		}
		first = false
	}
	for i := range t.Workloads {
		o := &t.Workloads[i]
		if t.object == nil {
			gap()
			t.owner(o)
		}
		for j := range o.Objects {
			object := &o.Objects[j]
			if object.State != Accepted {
				gap()
				t.line("%s  →  %s   %s", object, o.Ref, object.State)
				t.line("  %s", strings.ReplaceAll(object.Error, "\n", "\n  "))
			}
			for k := range object.Jobs {
				gap()
				t.job(o, object, &object.Jobs[k])
			}
		}
		if t.object != nil {
			for _, h := range o.Hints {
				t.hint(h)
			}
			t.notes(o)
		}
	}
	for _, v := range t.NotUsed {
		gap()
		t.line("%s  →  %s   not used", t.object.Object, v.Workload)
		t.WriteString(v.Text("  "))
	}
}

// job writes a job with its targets, and the reasons for other targets.
func (t text) job(o *WorkloadResult, object *Object, j *Job) {
	counts := j.Counts.String()
	if len(j.Reasons) == 0 && j.Counts.scraped() == 0 {
		counts += ": discovery finds nothing"
	}
	t.line("%s  →  %s   job %s   %s", object, o.Ref, j.Name, counts)
	t.targets(o, j.listed)
	for _, r := range j.Reasons {
		if !t.listsAll(r) {
			t.reason(&r)
		}
	}
	for _, h := range j.Hints {
		t.hint(h)
	}
}

// hint writes a hint.
func (t text) hint(h fmt.Stringer) {
	t.line("  hint  %s", strings.ReplaceAll(h.String(), "\n", "\n        "))
}

// listsAll reports whether the targets of a reason are listed individually.
func (t text) listsAll(r Reason) bool {
	q := &t.question
	gap := r.State == targets.Unknown || r.State == targets.Forbidden
	return !gap && q.lists(&targets.Row{State: r.State, Drop: &targets.Drop{Origin: r.Origin}})
}

// targets writes a row for each target.
func (t text) targets(o *WorkloadResult, all []Target) {
	rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	for i := range all {
		one := &all[i]
		if one.State == targets.Unknown || one.State == targets.Forbidden {
			continue // reported by a reason
		}
		cells := []string{"  " + states[one.State], one.URL}
		if o.Shards > 1 || o.PerNode {
			cells = append(cells, scrapers(o, one))
		}
		cells = append(cells, place(one))
		if one.Message != "" {
			cells = append(cells, one.Message)
		}
		t.labels(rows, cells, one)
	}
	_ = rows.Flush()
}

// maxLabels is the maximum length in bytes of the labels of a target in a text. Those of a pod before relabeling may have
// megabytes of annotations, in each of its jobs.
const maxLabels = 64 << 10

// labels writes a row with the labels of the style.
func (t text) labels(rows io.Writer, cells []string, one *Target) {
	before := func() string { return excerpt.Of(labelText(one.Discovered), maxLabels) }
	after := ""
	if one.Labels != nil && (t.Labels == "after" || t.Labels == "both") {
		after = excerpt.Of(labelText(one.Labels), maxLabels)
	}
	switch t.Labels {
	case "before":
		cells = append(cells, before())
	case "after":
		if after != "" {
			cells = append(cells, after)
		}
	case "both":
		cells[len(cells)-1] += "\n        before  " + before()
		if after != "" {
			cells[len(cells)-1] += "\n        after   " + after
		}
	}
	fmt.Fprintln(rows, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}
