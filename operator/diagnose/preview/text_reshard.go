package preview

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// resharding writes what another number of shards changes.
func (t text) resharding() {
	r := t.Resharding
	if r == nil {
		for i := range t.Workloads {
			t.owner(&t.Workloads[i]) // its targets are not known
		}
		return
	}
	t.line("%s   %s instead of %d: %s", r.Workload, plural(r.To, "shard"), r.From, r.Amount)
	t.line("  a target counts as 500 series unless its label __tmp_shard_weight says how many it has; %s", has(r.Claimed))
	if r.Everywhere > 0 {
		t.line("  on all shards: %s", plural(r.Everywhere, "target"))
	}
	if r.Unknown > 0 {
		t.line("  not counted: the targets of %s that cannot be looked at here; without --shards, they are listed", discoveries(r.Unknown))
	}
	if r.Lost > 0 {
		t.line("  on no shard then, because their jobs divide them by other numbers, or their zone has none: %s", plural(r.Lost, "target"))
	}
	t.line("")
	rows := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	fmt.Fprintf(rows, "placement\tmoves\tof all series\tfullest shard, %d\tfullest shard, %d\n", r.From, r.To)
	fmt.Fprintf(rows, "hash\t%s\n", r.summary(&r.Hash))
	fmt.Fprintf(rows, "weighted\t%s\n", r.summary(&r.Weighted))
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

// has says how many targets have a label.
func has(n int) string {
	if n == 1 {
		return "1 target has it"
	}
	return fmt.Sprintf("%d targets have it", n)
}

// String returns a human-readable form.
func (a Amount) String() string {
	return fmt.Sprintf("%s, %d series", plural(a.Targets, "target"), a.Series)
}

// summary returns the cells of a placement.
func (r *Resharding) summary(m *Reshaped) string {
	part := 0.0
	if r.Series > 0 {
		part = 100 * float64(m.Moved.Series) / float64(r.Series)
	}
	return fmt.Sprintf("%s\t%.1f %%\t%s\t%s", plural(m.Moved.Targets, "target"), part, times(m.FullestBefore), times(m.FullestAfter))
}

// times returns how full the fullest shard is.
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
