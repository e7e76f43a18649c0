package preview

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// csv writes a row for each target, below a row with the names of the columns.
func (r *Report) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"owner", "object", "job", "state", "url", "shards", "source", "node", "origin", "message", "labels"}}
	items := r.Items
	if r.question.OverlapsOnly {
		for _, overlap := range r.Overlaps {
			items = append(items, overlap.Targets...)
		}
	}
	for i := range items {
		rows = append(rows, items[i].row())
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
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
		t.Owner.String(), t.Object.String(), t.Job, string(t.State), t.URL, strings.Trim(fmt.Sprint(t.Shards), "[]"),
		place(t), t.Source.Node, origin, t.Message, labels,
	}
}
