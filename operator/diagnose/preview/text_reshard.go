package preview

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// resharding writes the effect of another number of shards.
func (t text) resharding() {
	r := t.Resharding
	if r == nil {
		for i := range t.Workloads {
			t.owner(&t.Workloads[i]) // its targets are not known
		}
		return
	}
	t.line("%s   %s instead of %d: %s", r.Workload, report.Count(r.To, "shard"), r.From, r.Amount)
	for _, remark := range r.Remarks() {
		t.line("  %s", remark)
	}
	t.line("")
	rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	fmt.Fprintf(rows, "placement\tmoves\tof all series\tfullest shard, %d\tfullest shard, %d\n", r.From, r.To)
	for _, row := range r.Placements() {
		fmt.Fprintln(rows, strings.Join([]string{row.Name, row.Moves, row.Part, row.Before, row.After}, "\t"))
	}
	_ = rows.Flush()
	if most := max(r.From, r.To); most > maxShardsTold && t.Format != "wide" {
		t.line("\n--format=wide lists the %d shards", most)
		return
	}
	t.line("")
	fmt.Fprintf(rows, "series of\thash, %[1]d\thash, %[2]d\tweighted, %[1]d\tweighted, %[2]d\n", r.From, r.To)
	for i := range max(r.From, r.To) {
		cells := []string{fmt.Sprint("shard ", i)}
		for _, shards := range [][]Amount{r.Hash.Before, r.Hash.After, r.Weighted.Before, r.Weighted.After} {
			cell := "-"
			if i < len(shards) {
				cell = fmt.Sprint(shards[i].Series)
			}
			cells = append(cells, cell)
		}
		fmt.Fprintln(rows, strings.Join(cells, "\t"))
	}
	_ = rows.Flush()
}

// has returns "1 target has it" or "N targets have it".
func has(n int) string {
	if n == 1 {
		return "1 target has it"
	}
	return fmt.Sprintf("%d targets have it", n)
}

// String returns a human-readable form.
func (a Amount) String() string {
	return fmt.Sprintf("%s, %d series", report.Count(a.Targets, "target"), a.Series)
}

// Remarks explains the numbers of the comparison: which targets they include, and with how many series.
func (r *Resharding) Remarks() []string {
	out := []string{"a target counts as 500 series unless its label __tmp_shard_weight says how many it has; " + has(r.Claimed)}
	if r.Everywhere > 0 {
		out = append(out, "on all shards: "+report.Count(r.Everywhere, "target"))
	}
	if r.Unknown > 0 {
		out = append(out, fmt.Sprintf("not counted: the targets of %s that cannot be looked at here; without --shards, they are listed", discoveries(r.Unknown)))
	}
	if r.Lost > 0 {
		out = append(out, "on no shard then, because their jobs divide them by other numbers, or their zone has none: "+report.Count(r.Lost, "target"))
	}
	return out
}

// PlacementText describes the effect of another number of shards with one placement.
type PlacementText struct {
	Name string // "hash" or "weighted"
	// Moves is the number of targets that move, Part their part of all series.
	Moves, Part string
	// Before and After describe the load of the fullest shard.
	Before, After string
}

// Placements returns a text for each placement.
func (r *Resharding) Placements() []PlacementText {
	var out []PlacementText
	for _, p := range []struct {
		name string
		*Reshaped
	}{{"hash", &r.Hash}, {"weighted", &r.Weighted}} {
		part := 0.0
		if r.Series > 0 {
			part = 100 * float64(p.Moved.Series) / float64(r.Series)
		}
		out = append(out, PlacementText{p.name, report.Count(p.Moved.Targets, "target"), fmt.Sprintf("%.1f %%", part), times(p.FullestBefore), times(p.FullestAfter)})
	}
	return out
}

// times returns the load of the fullest shard as a multiple of the mean.
func times(mean float64) string {
	if mean == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f × mean", mean)
}

func discoveries(n int) string {
	if n == 1 {
		return "1 discovery"
	}
	return fmt.Sprintf("%d discoveries", n)
}
