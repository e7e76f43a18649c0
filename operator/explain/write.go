package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/report"
)

// Formats are the values of Write's format.
var Formats = report.Formats

// Write prints the report: "text" for people, "json" for programs.
func (r Report) Write(w io.Writer, format string) error { return report.Write(w, format, r, r.text) }

func (r Report) text(w *strings.Builder) {
	switch n := len(r.Owners); {
	case n == 0:
		fmt.Fprintf(w, "nothing uses %s: there is no %s\n", r.Object, catalog.Or(r.kinds))
	case r.Unknown():
		fmt.Fprintf(w, "cannot tell whether %s is used by %s\n", r.Object, workloads(n))
	case r.Accepted() == 0 && n == 1:
		fmt.Fprintf(w, "%s is not used by the only %s\n", r.Object, r.Owners[0].Owner.Kind)
	case r.Accepted() == 0:
		fmt.Fprintf(w, "%s is used by none of %s\n", r.Object, workloads(n))
	default:
		fmt.Fprintf(w, "%s is used by %d of %s\n", r.Object, r.Accepted(), workloads(n))
	}
	for _, v := range r.Owners {
		mark := "no"
		if v.Accepted {
			mark = "yes"
		}
		fmt.Fprintf(w, "\n%-3s  %s\n", mark, v.Owner)
		v.text(w, "     ")
	}
}

// workloads counts workloads.
func workloads(n int) string {
	if n == 1 {
		return "1 workload"
	}
	return fmt.Sprintf("%d workloads", n)
}

// text writes what follows the name of the workload.
func (v Verdict) text(w *strings.Builder, indent string) {
	message := v.Message
	switch v.Reason {
	case Rejected:
		message = "rejected: " + message
	case OwnerInvalid:
		message = v.Owner.Kind + " is invalid: " + message
	case NotKnown:
		message = "unknown: " + message
	}
	fmt.Fprintf(w, "%s%s\n", indent, strings.ReplaceAll(message, "\n", "\n"+indent))
	for _, m := range v.Misses {
		text := m.String()
		if v.Reason == NotKnown { // the label may be there
			text = m.Requirement
		}
		fmt.Fprintf(w, "%s  it requires %s\n", indent, text)
	}
	rows(w, indent, "job", v.Jobs)
	rows(w, indent, "receiver", v.Receivers)
	rows(w, indent, "file", one(v.file()))
	rows(w, indent, "shards", v.Shards)
	rows(w, indent, "left out", v.Dropped)
	rows(w, indent, "warning", one(v.Trouble))
	if v.Otherwise != nil {
		fmt.Fprintf(w, "%sif it were not paused:\n", indent)
		v.Otherwise.text(w, indent+"  ")
	}
}

func (v Verdict) file() string {
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

// rows writes values below each other, the first beside its name.
func rows(w *strings.Builder, indent, name string, values []string) {
	for _, value := range values {
		fmt.Fprintf(w, "%s%-8s  %s\n", indent, name, strings.ReplaceAll(value, "\n", "\n"+indent+strings.Repeat(" ", 10)))
		name = ""
	}
}
