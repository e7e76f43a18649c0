package status

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Formats are the formats that Write accepts.
var Formats = report.Formats

// maxNames is the maximum number of objects of a group in the text; JSON has all.
const maxNames = 5

// Write writes the report in a format: "text" (human-readable) or "json". Ages are relative to now.
func (r Report) Write(w io.Writer, format string, now time.Time) error {
	return report.Write(w, format, r, func(b *strings.Builder) { r.text(b, now) })
}

func (r Report) text(w *strings.Builder, now time.Time) {
	fmt.Fprintf(w, "%s\n", r.Workload)
	switch {
	case r.Unmanaged != "":
		line(w, r.Unmanaged)
	case r.Paused:
		line(w, "spec.paused is true: the operator changes nothing")
	}
	if r.Invalid != "" {
		line(w, "invalid: "+r.Invalid)
	}
	fmt.Fprintf(w, "\nconditions\n")
	if len(r.Conditions) == 0 {
		line(w, "none: no operator has reconciled it yet")
	}
	for _, c := range r.Conditions {
		c.text(w, now)
	}
	fmt.Fprintf(w, "\npods\n")
	switch {
	case r.PodsUnknown:
		line(w, "not read")
	case len(r.Pods) == 0:
		line(w, "none")
	}
	for _, p := range r.Pods {
		p.text(w)
	}
	if slices.ContainsFunc(r.Pods, func(p Pod) bool { return p.Runs == RunsOther }) {
		line(w, "the times of each step of the last changes are on the operator's page of this workload (tab Changes), and in its HTTP API (deliveries)")
	}
	if len(r.Objects) > 0 {
		fmt.Fprintf(w, "\nobjects\n")
	}
	for _, o := range r.Objects {
		o.text(w)
	}
	if len(r.Events) > 0 {
		fmt.Fprintf(w, "\nlast Events\n")
	}
	for _, e := range r.Events {
		row(w, ago(now, e.Last), fmt.Sprintf("%s %s: %s%s", e.Type, e.About, e.Reason, times(e.Count)), e.Message)
	}
	if len(r.Unread) > 0 {
		fmt.Fprintf(w, "\nnot read\n")
		for _, u := range r.Unread {
			line(w, u)
		}
	}
}

func (c Condition) text(w *strings.Builder, now time.Time) {
	said := c.Words
	if c.Status != "True" && c.Reason != "" {
		said += ": " + c.Reason
	}
	if !c.Since.IsZero() {
		said += ", since " + ago(now, c.Since)
	}
	if c.Stale {
		said += " (before the last change of the object)"
	}
	row(w, c.Type, said, c.Message)
}

func (p Pod) text(w *strings.Builder) {
	said := []string{"ready"}
	if !p.Ready {
		said[0] = "not ready"
	}
	if p.Restarts > 0 {
		said = append(said, fmt.Sprintf("%d restarts", p.Restarts))
	}
	if p.Outdated {
		said = append(said, "waits to be replaced (older pod template)")
	}
	configuration := "the configuration"
	if p.Wanted != "" {
		configuration += " " + p.Wanted[:min(12, len(p.Wanted))]
	}
	why := p.Why
	switch p.Runs {
	case RunsIt:
		said = append(said, "runs "+configuration)
		if why != "" {
			said = append(said, "as far as known: "+why)
		}
	case RunsOther:
		said = append(said, "does not run "+configuration+": "+why)
	case RunsUnknown:
		said = append(said, "not known whether it runs "+configuration+": "+why)
	}
	row(w, p.Name, strings.Join(said, ", "), p.Message)
}

func (o Objects) text(w *strings.Builder) {
	var counts []string
	for _, s := range []State{Accepted, Rejected, Unknown, NotSelected} {
		if n := o.count(s); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	row(w, o.Kind, strings.Join(counts, ", "))
	for _, g := range o.Groups {
		if g.State == Accepted {
			continue
		}
		row(w, "", fmt.Sprintf("%s %s", g.State, excerpt.List(g.Names, maxNames)), "  "+strings.ReplaceAll(g.Message, "\n", "\n  "))
	}
}

// row writes one text per line, with the name before the first.
func row(w *strings.Builder, name string, texts ...string) {
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				fmt.Fprintf(w, "  %s\n", strings.TrimRight(fmt.Sprintf("%-18s  %s", name, line), " "))
				name = ""
			}
		}
	}
}

// line writes a text without a name.
func line(w *strings.Builder, text string) {
	fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
}

func ago(now, t time.Time) string { return duration.HumanDuration(age(now, t)) }

func times(n int32) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}
