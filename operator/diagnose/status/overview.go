package status

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Overview holds the reports of several workloads, and the objects that none of them selects.
type Overview struct {
	Workloads  []Report             `json:"workloads"`
	Unselected []explain.Unselected `json:"unselected,omitempty"`
}

// UnselectedIn returns the objects that no workload of a cluster selects; nil if something could not be read. all must
// be the facts of all workloads.
func UnselectedIn(all []Facts) []explain.Unselected {
	var kinds []*engine.Kind
	read := map[*catalog.Row]map[types.NamespacedName]catalog.Object{}
	note := func(row *catalog.Row, o catalog.Object) {
		if read[row] == nil {
			read[row] = map[types.NamespacedName]catalog.Object{}
		}
		read[row][catalog.KeyOf(o)] = o
	}
	for _, f := range all {
		if len(f.Unread) > 0 {
			return nil
		}
		if !slices.Contains(kinds, f.Setup.Kind) {
			kinds = append(kinds, f.Setup.Kind)
		}
		note(f.Setup.Row, f.Object)
		for row, objects := range f.Objects {
			for _, o := range objects {
				if f.Configs.Has(o.GetNamespace()) {
					note(row, o)
				}
			}
		}
	}
	objects := manifests.New(kinds)
	for row, of := range read {
		for _, o := range of {
			objects.Add(row, o)
			if set, exists := all[0].NamespaceLabels(o.GetNamespace()); exists {
				objects.SetNamespace(o.GetNamespace(), set)
			}
		}
	}
	return explain.UnselectedOf(objects)
}

// Write writes one line for each workload with its problems below it, or all reports if format is
// "json".
func (o Overview) Write(w io.Writer, format string, now time.Time) error {
	return report.Write(w, format, o, func(b *strings.Builder) { o.text(b, now) })
}

func (o Overview) text(w *strings.Builder, now time.Time) {
	if len(o.Workloads) == 0 {
		fmt.Fprintln(w, "no workloads")
		return
	}
	rows := [][]string{{"", "RECONCILED", "AVAILABLE", "APPLIED", "PODS READY", "ACCEPTED", "REJECTED"}}
	for _, r := range o.Workloads {
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
			o.Workloads[i-1].trouble(w, now)
			unread = append(unread, o.Workloads[i-1].Unread...)
		}
	}
	o.unselected(w)
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

// mostUnselected is the maximum number of unselected objects in the text.
const mostUnselected = 20

// unselected writes the objects that no workload selects.
func (o Overview) unselected(w *strings.Builder) {
	if len(o.Unselected) == 0 {
		return
	}
	fmt.Fprintf(w, "\nselected by no workload: %d\n", len(o.Unselected))
	for _, u := range o.Unselected[:min(len(o.Unselected), mostUnselected)] {
		line(w, u.String())
	}
	if more := len(o.Unselected) - mostUnselected; more > 0 {
		line(w, fmt.Sprintf("%d more: --format=json has all", more))
	}
}

// columns returns the table row of a workload.
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

// trouble writes the problems of a workload.
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
