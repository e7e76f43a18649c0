package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// quantile returns the smallest value that is not exceeded by a fraction q of all values.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond)) }

func mb(bytes int) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

// quantiles returns the quantiles of the timings in the order of the table's header.
func (c changes) quantiles() string {
	return strings.Join([]string{ms(quantile(c.took, 0.5)), ms(quantile(c.took, 0.95)), ms(quantile(c.took, 0.99))}, " / ")
}

// table returns the results as a Markdown table.
func (s *subject) table(results []result) string {
	counts, calls, head := make([]string, 0, 3), make([]string, 0, 3), []string{"settled after start"}
	for _, kind := range s.selected {
		counts, calls = append(counts, kind.title), append(calls, "one "+kind.one)
		head = append(head, "one "+kind.one+", p50 / p95 / p99", "CPU each")
	}
	head = slices.Insert(head, 0, strings.Join(append(counts, s.owners.title), " / "))
	head = append(head, "memory / at most", "calls for "+strings.Join(append(calls, "idle"), " / "))
	rows := [][]string{head, slices.Repeat([]string{"---"}, len(head))}
	for _, r := range results {
		rows = append(rows, r.row())
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

func (r result) row() []string {
	var counts, calls []string
	for _, n := range r.counts {
		counts = append(counts, strconv.Itoa(n))
	}
	out := []string{strings.Join(append(counts, strconv.Itoa(r.owners)), " / "), ms(r.settle) + ", CPU " + ms(r.settled.cpu)}
	for _, c := range r.changed {
		out = append(out, c.quantiles(), ms(c.each()))
		calls = append(calls, c.calls())
	}
	return append(out, mb(r.end.rss)+" / "+mb(r.end.top), strings.Join(append(calls, strconv.Itoa(r.idle.calls)), " / "))
}

// each returns the operator's CPU time per change.
func (c changes) each() time.Duration { return c.spent.cpu / time.Duration(max(1, len(c.took))) }

// calls returns the number of API calls per change.
func (c changes) calls() string {
	return fmt.Sprintf("%.1f", float64(c.spent.calls)/float64(max(1, len(c.took))))
}
