package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Formats are the formats that Write accepts.
var Formats = report.Formats

// Write writes the report in a format: "text" (human-readable) or "json".
func (r Report) Write(w io.Writer, format string) error { return report.Write(w, format, r, r.text) }

func (r Report) text(w *strings.Builder) {
	switch n := len(r.Workloads); {
	case n == 0:
		fmt.Fprintf(w, "nothing uses %s: there is no %s\n", r.Object, catalog.Or(r.kinds))
	case r.Unknown():
		fmt.Fprintf(w, "cannot tell whether %s is used by %s\n", r.Object, workloads(n))
	case r.Accepted() == 0:
		fmt.Fprintf(w, "no %s uses %s\n", catalog.Or(r.asked()), r.Object)
	default:
		fmt.Fprintf(w, "%s is used by %d of %s\n", r.Object, r.Accepted(), workloads(n))
	}
	for _, text := range r.Findings {
		fmt.Fprintln(w, text)
	}
	for _, v := range r.Workloads {
		mark := "no"
		switch {
		case v.Accepted:
			mark = "yes"
		case v.Reason == NotKnown:
			mark = "?"
		}
		fmt.Fprintf(w, "\n%-3s  %s\n", mark, v.Workload)
		v.text(w, "     ")
	}
}

// asked returns the kinds of the workloads in the report.
func (r Report) asked() (out []*catalog.Row) {
	for _, row := range catalog.All {
		if slices.ContainsFunc(r.Workloads, func(v Result) bool { return v.Workload.Kind == row.Kind }) {
			out = append(out, row)
		}
	}
	return out
}

// Text returns the result as human-readable lines, without the name of the workload. Each line
// begins with indent.
func (v Result) Text(indent string) string {
	var b strings.Builder
	v.text(&b, indent)
	return b.String()
}

// workloads formats a number of workloads.
func workloads(n int) string {
	if n == 1 {
		return "1 workload"
	}
	return fmt.Sprintf("%d workloads", n)
}

// text writes the result without the name of the workload; see [Result.Text].
func (v Result) text(w *strings.Builder, indent string) {
	message := v.Message
	switch v.Reason {
	case Rejected:
		message = "rejected: " + message
	case WorkloadInvalid:
		message = v.Workload.Kind + " is invalid: " + message
	case NotKnown:
		message = "unknown: " + message
	}
	fmt.Fprintf(w, "%s%s\n", indent, strings.ReplaceAll(message, "\n", "\n"+indent))
	for _, m := range v.Misses {
		fmt.Fprintf(w, "%s  it requires %s\n", indent, m)
	}
	rows(w, indent, "also", v.Also)
	rows(w, indent, "where", v.Where)
	rows(w, indent, "job", v.Jobs)
	rows(w, indent, "looks for", v.LooksFor)
	rows(w, indent, "found by", v.FoundBy)
	rows(w, indent, "as", v.As)
	rows(w, indent, "receiver", excerpt.Names(v.Receivers))
	rows(w, indent, "matches", v.Matches)
	rows(w, indent, "file", one(v.file()))
	rows(w, indent, "alerts", v.Alerts)
	rows(w, indent, "shards", v.Shards)
	rows(w, indent, "targets", v.Targets)
	rows(w, indent, "left out", v.Dropped)
	rows(w, indent, "warning", one(v.Trouble))
	rows(w, indent, "hint", v.hints())
	rows(w, indent, "unknown", v.Unknown)
	if v.Otherwise != nil {
		fmt.Fprintf(w, "%sif it were not paused:\n", indent)
		v.Otherwise.text(w, indent+"  ")
	}
}

func (v Result) file() string {
	if v.RuleFile == "" || v.ConfigMap == "" {
		return v.RuleFile
	}
	return v.RuleFile + " in ConfigMap " + v.ConfigMap
}

func one(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// rows writes one value per line, with the name before the first.
func rows(w *strings.Builder, indent, name string, values []string) {
	for _, value := range values {
		fmt.Fprintf(w, "%s%-9s %s\n", indent, name, strings.ReplaceAll(value, "\n", "\n"+indent+strings.Repeat(" ", 10)))
		name = ""
	}
}
