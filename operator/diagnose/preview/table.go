package preview

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// csv writes a header and a row for each target.
func (r *Report) csv(w io.Writer) error {
	if r.question.Servers != nil {
		return writeCSV(w, r.differences())
	}
	rows := [][]string{{"workload", "object", "job", "state", "url", "shards", "source", "node", "origin", "message", "labels"}}
	items := r.Items
	if r.question.OverlapsOnly {
		for _, overlap := range r.Overlaps {
			items = append(items, overlap.Targets...)
		}
	}
	for i := range items {
		rows = append(rows, items[i].row())
	}
	return writeCSV(w, rows)
}

func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// differences returns a row for each difference to a pod, each target that is down in one, and each
// pod with unknown targets.
func (r *Report) differences() [][]string {
	rows := [][]string{{"workload", "pod", "difference", "job", "url", "labels", "pod labels", "dropped", "pod dropped", "health", "message"}}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		for _, p := range c.Pods {
			if p.Error != "" {
				rows = append(rows, []string{c.Workload.String(), p.Pod, "unknown", "", "", "", "", "", "", "", p.Error})
			}
		}
		for _, d := range slices.Concat(c.Differences, c.Down) {
			dropped, there := "", ""
			if d.Kind == DroppedCounts {
				dropped, there = strconv.Itoa(d.Dropped), strconv.Itoa(d.PodDropped)
			}
			for _, pod := range d.Pods {
				rows = append(rows, []string{
					c.Workload.String(), pod, string(d.Kind), d.Job, d.URL, labelText(d.Labels), labelText(d.PodLabels), dropped, there, d.Health, d.Message,
				})
			}
		}
	}
	return rows
}

func (t *Target) row() []string {
	origin, labels := "", ""
	if t.Drop != nil {
		origin = t.Drop.Origin
	}
	if t.Labels != nil {
		labels = labelText(t.Labels)
	}
	return []string{
		t.Workload.String(), t.Object.String(), t.Job, string(t.State), t.URL, strings.Trim(fmt.Sprint(t.Shards), "[]"),
		place(t), t.Source.Node, origin, t.Message, labels,
	}
}
