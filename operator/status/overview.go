package status

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/report"
)

// Overview are the pages of several workloads.
type Overview []Report

// Write prints one line for each workload, and what calls for attention below it; all pages
// as JSON.
func (o Overview) Write(w io.Writer, format string, now time.Time) error {
	return report.Write(w, format, o, func(b *strings.Builder) { o.text(b, now) })
}

func (o Overview) text(w *strings.Builder, now time.Time) {
	if len(o) == 0 {
		fmt.Fprintln(w, "no workloads")
		return
	}
	rows := [][]string{{"", "RECONCILED", "AVAILABLE", "APPLIED", "PODS READY", "ACCEPTED", "REJECTED"}}
	for _, r := range o {
		rows = append(rows, r.columns())
	}
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var unread []string
	for i, cells := range rows {
		var b strings.Builder
		for j, cell := range cells {
			fmt.Fprintf(&b, "%-*s  ", widths[j], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		if i > 0 {
			o[i-1].trouble(w, now)
			unread = append(unread, o[i-1].Unread...)
		}
	}
	if len(unread) > 0 {
		fmt.Fprintf(w, "\nnot read\n")
	}
	seen := map[string]bool{}
	for _, u := range unread {
		if !seen[u] {
			line(w, u)
		}
		seen[u] = true
	}
}

// columns are the line of a workload.
func (r Report) columns() []string {
	of := map[string]string{}
	for _, c := range r.Conditions {
		if of[c.Type] = c.Status; c.Stale {
			of[c.Type] += " (old)"
		}
	}
	ready, accepted, rejected := 0, 0, 0
	for _, p := range r.Pods {
		if p.Ready {
			ready++
		}
	}
	for _, o := range r.Objects {
		accepted += o.count(Accepted)
		rejected += o.count(Rejected)
	}
	cells := []string{r.Workload.String()}
	for _, t := range []string{"Reconciled", "Available", "ConfigApplied"} {
		if of[t] == "" {
			of[t] = "-"
		}
		cells = append(cells, of[t])
	}
	pods := fmt.Sprintf("%d/%d", ready, len(r.Pods))
	if r.PodsUnknown {
		pods = "?"
	}
	return append(cells, pods, fmt.Sprint(accepted), fmt.Sprint(rejected))
}

// trouble writes the reasons why a workload is not good.
func (r Report) trouble(w *strings.Builder, now time.Time) {
	if r.Unmanaged != "" {
		line(w, r.Unmanaged)
	}
	if r.Paused {
		line(w, "spec.paused is true: the operator changes nothing")
	}
	if r.Invalid != "" {
		line(w, "invalid: "+r.Invalid)
	}
	for _, c := range r.Conditions {
		if c.Status != "True" || c.Stale {
			c.text(w, now)
		}
	}
	for _, o := range r.Objects {
		for _, g := range o.Groups {
			if g.State == Rejected || g.State == Unknown {
				Objects{o.Kind, []Group{g}}.text(w)
			}
		}
	}
}
