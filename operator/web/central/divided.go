package central

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// divided writes the division of the targets of workloads by series.
func (s Status) divided(out *strings.Builder) {
	rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := "\nWORKLOAD\tSHARD\tSERIES\tOF MEAN\tUNITS\tSTATE\tSCRAPED BY PODS\n"
	for _, w := range s.Workloads {
		if w.Balance == nil {
			continue
		}
		fmt.Fprint(rows, head)
		head = ""
		for _, shard := range w.Balance.Shards {
			fmt.Fprintf(rows, "%s\t%d\t%d\t%s\t%d\t%s\t%s\n", w.Ref, shard.Shard, shard.Series, ofMean(shard), shard.Units, stateOf(shard), w.scrapedOn(shard.Shard))
		}
	}
	_ = rows.Flush() // into memory
	for _, w := range s.Workloads {
		if w.Balance != nil {
			w.moves(out)
		}
	}
}

func ofMean(s balance.ShardStatus) string {
	if s.Mean == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(s.Series)/float64(s.Mean))
}

func stateOf(s balance.ShardStatus) string {
	switch {
	case s.State == "" && s.Alone > 0:
		return fmt.Sprintf("one unit has %d series", s.Alone)
	case s.State == "":
		return "-"
	}
	return s.State
}

// scrapedOn returns how many targets of its list each pod of a shard scrapes.
func (w *WorkloadStatus) scrapedOn(shard int) string {
	var pods []string
	for _, list := range w.Shards {
		for _, stream := range list.Streams {
			if list.Shard == shard && list.Shard != feed.Retired && stream.Report != nil {
				pods = append(pods, fmt.Sprintf("%s %d of %d", stream.Pod, stream.Report.Active, stream.Report.Served))
			}
		}
	}
	return strings.Join(pods, ", ")
}

// moves writes the targets that are moving, and why.
func (w *WorkloadStatus) moves(out *strings.Builder) {
	b := w.Balance
	w.scaling(out)
	switch {
	case !b.Ready:
		fmt.Fprintf(out, "%s: its pods have not reported their targets yet, or another replica leads\n", w.Ref)
	case b.Moving+b.Waiting > 0:
		fmt.Fprintf(out, "%s: %d units of targets are on their way between shards, %d wait for theirs\n", w.Ref, b.Moving, b.Waiting)
	}
	for _, m := range b.Moves {
		fmt.Fprintf(out, "%s: %q of %s, %d series, from shard %d to %d (%s)\n", w.Ref, m.Key, m.Namespace, m.Series, m.From, m.To, m.Why)
	}
	if n := b.Moving - len(b.Moves); n > 0 {
		fmt.Fprintf(out, "%s: %d more on their way\n", w.Ref, n)
	}
}

// scaling writes the wanted number of shards of a workload, and the last changes.
func (w *WorkloadStatus) scaling(out *strings.Builder) {
	s := w.Scaling
	switch {
	case s == nil:
		return
	case s.Target < s.Shards:
		fmt.Fprintf(out, "%s: %d of %d shards get targets, the others are drained\n", w.Ref, s.Target, s.Shards)
	default:
		fmt.Fprintf(out, "%s: should have %d shards\n", w.Ref, s.Target)
	}
	if s.Held != nil {
		fmt.Fprintf(out, "%s: %s since %s: %s\n", w.Ref, s.Held.Reason, s.Held.Since.Format(time.RFC3339), s.Held.Message)
	}
	for _, step := range s.Steps {
		fmt.Fprintf(out, "%s: %s: %d → %d shards: %s\n", w.Ref, step.At.Format(time.RFC3339), step.From, step.To, step.Why)
	}
}
