package preview

import (
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Reports about a pod, and about overlaps, instead of workloads and objects.

// pod writes the jobs that scrape a pod, and the reasons why others do not.
func (t text) pod() {
	pod := "Pod " + t.question.Pod.String()
	switch c := t.Counts; {
	case c.Kept == 0 && t.unread(false):
		t.line("%s: whether it is scraped is unknown", pod)
	case c.Kept == 0:
		t.line("%s is not scraped", pod)
	default:
		t.line("%s is scraped as %s", pod, report.Count(c.Kept, "target"))
	}
	var unknown []string
	var others []passed
	for i := range t.Workloads {
		o := &t.Workloads[i]
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
				switch {
				case job.Counts.scraped() > 0:
					t.line("")
					t.job(o, object, job)
				case job.Counts.others() > 0:
					others = append(others, passed{o, job})
				}
			}
		}
	}
	if t.Counts.scraped() == 0 && len(others) == 0 && len(unknown) == 0 {
		t.line("  no job finds it")
	}
	t.passed(others)
	if len(unknown) > 0 {
		t.line("\nnot known is what these jobs find: %s", some(unknown))
	}
}

// passed is a job that discovers a pod but does not scrape it.
type passed struct {
	owner *WorkloadResult
	job   *Job
}

// bySelector reports whether a selector drops the pod, which is the less interesting case.
func (p passed) bySelector() bool { return strings.Contains(p.job.Reasons[0].Origin, "elector") }

// passed lists jobs that discover a pod but do not scrape it, ones that select it first.
func (t text) passed(all []passed) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b passed) int { return boolInt(a.bySelector()) - boolInt(b.bySelector()) })
	t.line("\nfound and not scraped by %s:", report.Count(len(all), "job"))
	for _, p := range all[:min(len(all), maxNamed)] {
		t.line("  %s of %s", p.job.Name, p.owner.Ref)
		for i := range p.job.Reasons {
			t.indented(&p.job.Reasons[i], "  ")
		}
	}
	if more := len(all) - maxNamed; more > 0 {
		t.line("  and %d more", more)
	}
}

// overlaps writes the URLs that are scraped more than once.
func (t text) overlaps() {
	if len(t.Overlaps) == 0 {
		t.line("no URL is scraped more than once by the same workload")
		return
	}
	n := len(t.Overlaps)
	if t.question.Limit > 0 {
		n = min(n, t.question.Limit)
	}
	t.line("%s scraped more than once by the same workload", report.Count(len(t.Overlaps), "URL"))
	for _, overlap := range t.Overlaps[:n] {
		t.line("\n%s   %s", overlap.Workload, overlap.URL)
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
