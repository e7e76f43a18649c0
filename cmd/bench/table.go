package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// quantile is the smallest value that a share q of all values does not exceed.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond)) }

func mb(bytes int) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

// table is the result in Markdown.
func table(results []result) string {
	var b strings.Builder
	b.WriteString("| monitors / rule objects / Prometheus objects | settled after start | one monitor, p50 / p99 | CPU each | one rule, p50 / p99 | CPU each | memory / at most | calls for a monitor / a rule / idle |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %d / %d / %d | %s, CPU %s | %s / %s | %s | %s / %s | %s | %s / %s | %s / %s / %d |\n",
			r.monitors, r.rules, r.owners, ms(r.settle), ms(r.settled.cpu),
			ms(quantile(r.monitor.took, 0.5)), ms(quantile(r.monitor.took, 0.99)), ms(r.monitor.each()),
			ms(quantile(r.rule.took, 0.5)), ms(quantile(r.rule.took, 0.99)), ms(r.rule.each()),
			mb(r.end.rss), mb(r.end.top), r.monitor.calls(), r.rule.calls(), r.idle.calls)
	}
	return b.String()
}

// each is the operator's CPU for one change.
func (c changes) each() time.Duration { return c.spent.cpu / time.Duration(max(1, len(c.took))) }

// calls is the number of calls to the API server for one change.
func (c changes) calls() string {
	return fmt.Sprintf("%.1f", float64(c.spent.calls)/float64(max(1, len(c.took))))
}
