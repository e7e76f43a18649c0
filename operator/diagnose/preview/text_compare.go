package preview

import (
	"strings"
	"text/tabwriter"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// differenceKinds are the human-readable kinds of differences.
var differenceKinds = map[DifferenceKind]string{
	OnlyHere: "not in", OnlyInPod: "only in", OtherLabels: "other labels in", DroppedCounts: "drops other numbers of targets", Down: "down in",
}

// comparisons writes the differences from running pods.
func (t text) comparisons() {
	for i := range t.Comparisons {
		c := &t.Comparisons[i]
		t.line("\n%s   %s", c.Workload, c)
		for _, p := range c.Pods {
			if p.Error != "" {
				t.line("  unknown  pod %s: %s", p.Pod, p.Error)
			}
		}
		for _, j := range c.NotCompared {
			t.line("  not compared  job %s: %s", j.Job, j.Message)
		}
		left := t.question.Limit
		for _, list := range [][]Difference{c.Differences, c.Down} {
			for n := range list {
				if t.question.Limit > 0 && left == 0 {
					t.line("  and %d more; --limit=0 lists all", len(c.Differences)+len(c.Down)-t.question.Limit)
					return
				}
				left--
				t.difference(&list[n])
			}
		}
	}
}

// difference writes one difference.
func (t text) difference(d *Difference) {
	if d.Kind == DroppedCounts {
		t.line("  job %s drops %s here and %d in %s", d.Job, report.Count(d.Dropped, "target"), d.PodDropped, podNames(d.Pods))
		return
	}
	t.line("  %s %s   %s   job %s", differenceKinds[d.Kind], podNames(d.Pods), d.URL, d.Job)
	rows := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	for _, row := range []struct {
		name   string
		labels map[string]string
	}{{"here", d.Labels}, {"pod", d.PodLabels}} {
		if row.labels != nil && t.Labels != "none" {
			_, _ = rows.Write([]byte("    " + row.name + "\t" + labelText(row.labels) + "\n"))
		}
	}
	_ = rows.Flush()
	if d.Message != "" {
		t.line("    %s", strings.ReplaceAll(quoteControl(d.Message), "\n", "\n    "))
	}
	if d.Remedy != "" {
		t.line("    remedy: %s", d.Remedy)
	}
}

// quoteControl replaces control characters, which could move the cursor, by blanks.
func quoteControl(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// String returns a human-readable summary in one line.
func (c *Comparison) String() string {
	asked := 0
	for _, p := range c.Pods {
		if p.Error == "" {
			asked++
		}
	}
	var out string
	switch {
	case asked == 0:
		return "compared with none of its pods"
	case len(c.Differences) > 0:
		out = report.Count(len(c.Differences), "difference") + " from "
	case c.unknown():
		out = "no difference is known from "
	default:
		out = "the same as "
	}
	out += report.Count(asked, "pod")
	if n := len(c.Down); n > 0 {
		out += ", " + report.Count(n, "target") + " down"
	}
	return out
}
