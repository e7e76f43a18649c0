package page

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// targetParams are the parameters of a list of targets.
var targetParams = []string{"q", "state", "reason", "skip", "job", "shard", "health", "continue"}

// selectorField is the beginning of the fields that select Services or pods. Prometheus finds all of
// a namespace, so it is normal that they drop those of others.
const selectorField = "spec.selector"

// targetsTab has targets and their filters.
type targetsTab struct {
	*insight.Targets
	Jobs   []insight.JobCounts
	More   int // jobs
	Groups []targetGroup
	States []stateCount
	// Dropped are the numbers of targets that fields other than selectors drop.
	Dropped map[string]int
	// Others is the number of targets that selectors drop: those of other Services or pods.
	Others int
	// Hidden is true if those are not listed.
	Hidden bool
	// Filtered is true if a filter is set.
	Filtered bool
	// Scrapes is the health of the targets, if it is requested; ScrapesUnknown is why it is not known.
	Scrapes        *insight.Scrapes
	ScrapesUnknown string
}

// Columns is the number of columns of the table.
func (t targetsTab) Columns() int {
	if t.Scrapes != nil {
		return 6
	}
	return 5
}

// Health returns the last scrape of a target.
func (t targetsTab) Health(of preview.Target) insight.Scrape { return t.Scrapes.Of(of.Job, of.URL) }

type stateCount struct {
	State targets.State
	Count int
}

// targetGroup has the targets of a job on a page, those that are scraped first.
type targetGroup struct {
	Workload, Object catalog.Ref
	Job, Summary     string
	Rows             []preview.Target
}

// Summary returns the counts in words.
func (t targetsTab) Summary() string { return summaryOf(t.Targets) }

// summaryOf returns the counts in words, without targets of others. It does not claim that there
// are no targets while that is unknown.
func summaryOf(t *insight.Targets) string {
	words := ownWords(t.Counts)
	if t.Counts.Kept+t.Counts.OtherShard == 0 && (!t.Synced || len(t.Notes) > 0) {
		return strings.Replace(words, "no targets", "no target is known", 1)
	}
	return words
}

// ownWords returns counts in words, without the targets that selectors drop.
func ownWords(c preview.Counts) string {
	c.Dropped, _ = bySelector(c.Dropped)
	return c.String()
}

// bySelector separates the counts of targets that selectors drop.
func bySelector(dropped map[string]int) (own map[string]int, others int) {
	own = map[string]int{}
	for origin, n := range dropped {
		if strings.HasPrefix(origin, selectorField) {
			others += n
		} else {
			own[origin] = n
		}
	}
	return own, others
}

// maxJobs is the maximum number of jobs above a list of targets.
const maxJobs = 10

// workloadTargets returns the targets of a workload, on request with their health.
func workloadTargets(q *request, _ *insight.Workload) (data, answer any, err error) {
	data, answer, err = targetsOf(q.Context(), q, insight.TargetQuery{Of: q.of})
	if err != nil || q.twin || q.query.Get("health") == "" {
		return data, answer, err
	}
	out := data.(targetsTab)
	if out.Scrapes, err = q.answers.Scrapes(q.Context(), q.rights, q.of); err != nil {
		out.Scrapes, out.ScrapesUnknown = nil, err.Error()
	}
	return out, answer, nil
}

// targetsOf returns targets. A page without a filter leaves out those that selectors drop.
func targetsOf(ctx context.Context, q *request, query insight.TargetQuery) (data, answer any, err error) {
	query.Page, query.Shard = q.part(), preview.AllShards
	query.Reason, query.Skip, query.Job = q.query.Get("reason"), q.query.Get("skip"), q.query.Get("job")
	if query.State, err = oneOf(q, "state", targets.States...); err != nil {
		return nil, nil, err
	}
	if s := q.query.Get("shard"); s != "" {
		if query.Shard, err = strconv.Atoi(s); err != nil || query.Shard < 0 {
			return nil, nil, bad("shard", "want a number from 0, not %q", s)
		}
	}
	hidden := !q.twin && query.State == "" && query.Reason == "" && query.Filter == ""
	if hidden {
		query.Skip = cmp.Or(query.Skip, selectorField)
	}
	got, err := q.answers.Targets(ctx, q.rights, query)
	if err != nil {
		return nil, nil, err
	}
	out := targetsTab{Targets: got, Groups: groupsOf(got)}
	for _, p := range targetParams {
		out.Filtered = out.Filtered || p != "health" && q.query.Get(p) != ""
	}
	out.Dropped, out.Others = bySelector(got.Counts.Dropped)
	out.Hidden = hidden && out.Others > 0
	byCount := slices.Clone(got.Jobs)
	slices.SortStableFunc(byCount, func(a, b insight.JobCounts) int { return b.Counts.Kept - a.Counts.Kept })
	out.Jobs, out.More = first(min(maxJobs, q.limit), byCount)
	for _, s := range targets.States {
		out.States = append(out.States, stateCount{s, got.Counts.In(s)})
	}
	return out, got, nil
}

// groupsOf groups the targets of a page by job.
func groupsOf(t *insight.Targets) (out []targetGroup) {
	type key struct {
		workload catalog.Ref
		job      string
	}
	summaries := map[key]string{}
	for _, j := range t.Jobs {
		summaries[key{j.Workload, j.Job}] = kept(j.Counts)
	}
	at := map[key]int{}
	for _, item := range t.Items {
		k := key{item.Workload, item.Job}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, targetGroup{Workload: item.Workload, Object: item.Object, Job: item.Job, Summary: summaries[k]})
		}
		out[i].Rows = append(out[i].Rows, item)
	}
	for _, g := range out {
		slices.SortStableFunc(g.Rows, func(a, b preview.Target) int { return order(a.State) - order(b.State) })
	}
	return out
}

// order sorts states: scraped, with a problem, dropped.
func order(s targets.State) int {
	switch s {
	case targets.Kept, targets.OtherShard:
		return 0
	case targets.Dropped:
		return 2
	}
	return 1
}

// kept returns the counts of a job in words: "3 kept, 2 dropped; 102 of others".
func kept(c preview.Counts) string {
	own, others := bySelector(c.Dropped)
	dropped := 0
	for _, n := range own {
		dropped += n
	}
	out := number(c.Kept) + " kept"
	for _, more := range []struct {
		n    int
		what string
	}{
		{c.OtherShard, " on other shards"}, {dropped, " dropped"}, {c.Invalid, " invalid"}, {c.Duplicate, " duplicate"},
		{c.OverLimit, " over the limit"}, {c.Forbidden, " forbidden"}, {c.Unknown, " unknown"},
	} {
		if more.n > 0 {
			out += ", " + number(more.n) + more.what
		}
	}
	if others > 0 {
		out += "; " + number(others) + " of others"
	}
	return out
}
