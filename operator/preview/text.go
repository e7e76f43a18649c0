package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/report"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Formats are the values of Style.Format: text and wide for people, json and csv for programs.
var Formats = []string{"text", "wide", "json", "csv"}

// Labels are the values of Style.Labels.
var Labels = []string{"before", "after", "both", "none"}

// Style says how a report is written.
type Style struct {
	Format string
	// Labels that are written with a target: those that were discovered (before), those of
	// its series (after), both or none. It is about text only.
	Labels string
}

// About makes the report one about an object, of which explain has said what each workload
// makes of it.
func (r *Report) About(object explain.Report) {
	r.object = &object
	for _, v := range object.Owners {
		if !v.Accepted {
			r.NotUsed = append(r.NotUsed, v)
		}
	}
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

// text writes a report for people.
type text struct {
	*strings.Builder
	*Report
	Style
}

func (t text) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// report writes everything. What is asked about comes first, in one line.
func (t text) report() {
	switch q := &t.question; {
	case q.OverlapsOnly:
		t.overlaps()
	case t.object != nil && len(t.Owners) == 0:
		_ = t.object.Write(t, "text") // the builder does not fail
	case q.Pod.Name != "":
		t.pod()
	case len(t.Owners) == 0:
		t.line("there is no Prometheus or PrometheusAgent")
	case q.States != nil && len(q.States) == 0:
		t.overview()
	default:
		t.details()
	}
	if t.Omitted > 0 {
		t.line("\n%d of %d targets are listed; --limit=0 lists all", len(t.Items), len(t.Items)+t.Omitted)
	}
}

// overview is a line for each object.
func (t text) overview() {
	for i := range t.Owners {
		o := &t.Owners[i]
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
}

// line is what there is to say of an object with several jobs, or with none.
func (o *Object) line() string {
	if o.State != Accepted {
		return string(o.State) + ": " + strings.ReplaceAll(o.Error, "\n", "; ")
	}
	return o.Counts.String()
}

// line is what there is to say of a job: why, if it scrapes nothing.
func (j *Job) line() string {
	if j.Counts.Kept == 0 {
		return j.Summary()
	}
	return j.Counts.String()
}

// owner is the line of a workload and what to know of it.
func (t text) owner(o *Owner) {
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

func (t text) notes(o *Owner) {
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
		t.line("  %s of %s", what, w.Owner)
	}
}

// details are all jobs with their targets.
func (t text) details() {
	first := true
	gap := func() {
		if !first {
			t.line("")
		}
		first = false
	}
	for i := range t.Owners {
		o := &t.Owners[i]
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
			t.notes(o)
		}
	}
	for _, v := range t.NotUsed {
		gap()
		t.line("%s  →  %s   not used", t.object.Object, v.Owner)
		t.WriteString(v.Text("  "))
	}
}

// job is a job with its targets, and why others are none.
func (t text) job(o *Owner, object *Object, j *Job) {
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
	for _, hint := range j.Hints {
		t.line("  hint  %s", strings.ReplaceAll(hint, "\n", "\n        "))
	}
}

// listsAll reports whether the targets of a reason are listed one by one.
func (t text) listsAll(r Reason) bool {
	q := &t.question
	gap := r.State == targets.Unknown || r.State == targets.Forbidden
	return !gap && q.lists(&targets.Target{State: r.State, Drop: &targets.Drop{Origin: r.Origin}})
}

// targets are rows of targets.
func (t text) targets(o *Owner, all []Target) {
	rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	for i := range all {
		one := &all[i]
		if one.State == targets.Unknown || one.State == targets.Forbidden {
			continue // a reason says it
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

// labels writes a row with the labels that are wanted.
func (t text) labels(rows io.Writer, cells []string, one *Target) {
	before, after := labelText(one.Discovered), labelText(one.Labels)
	if one.Labels == nil {
		after = ""
	}
	switch t.Labels {
	case "before":
		cells = append(cells, before)
	case "after":
		if after != "" {
			cells = append(cells, after)
		}
	case "both":
		cells[len(cells)-1] += "\n        before  " + before
		if after != "" {
			cells[len(cells)-1] += "\n        after   " + after
		}
	}
	fmt.Fprintln(rows, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// reason is why targets are not scraped, and what was found.
func (t text) reason(r *Reason) {
	switch {
	case r.State == targets.OtherShard:
		return
	case r.State == targets.Unknown, r.State == targets.Forbidden:
		for _, f := range r.Found {
			t.line("  %s  %s", r.State, f.Message)
		}
		return
	case r.Want != "":
		t.line("  %d dropped by %s, which %s", r.Count, r.Origin, r.Want)
	case r.Origin != "":
		t.line("  %d dropped by %s", r.Count, r.Origin)
	default:
		t.line("  %d %s", r.Count, states[r.State])
	}
	left := r.Count
	for _, f := range r.Found {
		n := ""
		if len(r.Found) > 1 || f.Count < r.Count {
			n = fmt.Sprintf("%d: ", f.Count)
		}
		t.line("    %s", strings.TrimRight(n+f.Message+"   "+sources(&f), " "))
		left -= f.Count
	}
	if left > 0 {
		t.line("    %d: others", left)
	}
}

// sources are the objects of a finding: "Services demo/db, demo/cache and others".
func sources(f *Finding) string {
	var kinds, names []string
	for _, s := range f.Sources {
		kind, name, _ := strings.Cut(s, " ")
		kinds, names = append(kinds, kind), append(names, name)
	}
	slices.Sort(kinds)
	if kinds = slices.Compact(kinds); len(kinds) != 1 {
		names = f.Sources
	} else if kind := kinds[0]; len(names) > 1 {
		names[0] = many(kind) + " " + names[0]
	} else {
		names[0] = kind + " " + names[0]
	}
	out := strings.Join(names, ", ")
	if f.More {
		out += " and others"
	}
	return out
}

// many is the plural of a kind.
func many(kind string) string {
	switch {
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

// pod says who scrapes a pod, and why others do not.
func (t text) pod() {
	pod := "Pod " + t.question.Pod.String()
	switch c := t.Counts; {
	case c.Kept == 0 && t.unread(false):
		t.line("%s: whether it is scraped is unknown", pod)
	case c.Kept == 0:
		t.line("%s is not scraped", pod)
	default:
		t.line("%s is scraped as %s", pod, plural(c.Kept, "target"))
	}
	var unknown []string
	for i := range t.Owners {
		o := &t.Owners[i]
		if o.Error != "" {
			t.line("")
			t.owner(o)
		}
		for j := range o.Objects {
			object := &o.Objects[j]
			for k := range object.Jobs {
				job := &object.Jobs[k]
				if job.Counts.gaps() > 0 {
					unknown = append(unknown, job.Name)
				}
				if job.Counts.scraped()+job.Counts.others() > 0 {
					t.line("")
					t.job(o, object, job)
				}
			}
		}
	}
	if len(unknown) > 0 {
		t.line("\nnot known is what these jobs find: %s", some(unknown))
	}
}

// overlaps are the URLs that are scraped more than once.
func (t text) overlaps() {
	if len(t.Overlaps) == 0 {
		t.line("no URL is scraped more than once by the same workload")
		return
	}
	n := len(t.Overlaps)
	if t.question.Limit > 0 {
		n = min(n, t.question.Limit)
	}
	t.line("%s scraped more than once by the same workload", plural(len(t.Overlaps), "URL"))
	for _, overlap := range t.Overlaps[:n] {
		t.line("\n%s   %s", overlap.Owner, overlap.URL)
		rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
		for i := range overlap.Targets {
			one := &overlap.Targets[i]
			t.labels(rows, []string{"  " + one.Object.String(), "job " + one.Job, place(one)}, one)
		}
		_ = rows.Flush()
	}
	if n < len(t.Overlaps) {
		t.line("\n%d of %d are listed; --limit=0 lists all", n, len(t.Overlaps))
	}
}
