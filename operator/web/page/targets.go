package page

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
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
	Blocks []targetBlock
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

// Workloads returns the workloads whose targets are on the page, at most 5.
func (t targetsTab) Workloads() (out []catalog.Ref) {
	for _, item := range t.Items {
		if len(out) < 5 && !slices.Contains(out, item.Workload) && pathOf(item.Workload) != "" {
			out = append(out, item.Workload)
		}
	}
	return out
}

// JobNames returns the jobs to suggest.
func (t targetsTab) JobNames() (out []string) {
	for _, j := range t.Jobs {
		if !slices.Contains(out, j.Job) { // on the page of an object, of several workloads
			out = append(out, j.Job)
		}
	}
	return out
}

// ReasonNames returns the fields that drop targets to suggest.
func (t targetsTab) ReasonNames() (out []string) {
	for _, of := range sorted(t.Dropped) {
		out = append(out, of.Name)
	}
	out, _ = first(maxJobs, out)
	return out
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
	None             bool // nothing of the job is scraped
}

// targetBlock is a table of targets: of jobs with few of them, or of one with many, which folds.
type targetBlock struct {
	Groups []targetGroup
	Folds  bool
	Open   bool // if it folds
}

// Summary returns the counts in words.
func (t targetsTab) Summary() string { return summaryOf(t.Targets) }

// summaryOf returns the counts in words, without targets of others. Unknown targets do not count as none.
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
	return longNumber.ReplaceAllStringFunc(c.String(), func(digits string) string {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return digits
		}
		return number(n)
	})
}

var longNumber = lazyregexp.New(`\d{4,}`)

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
	if out.Scrapes, err = q.answers.Scrapes(q.Context(), q.rights, q.of, out.Items); err != nil {
		out.Scrapes, out.ScrapesUnknown = nil, err.Error()
	}
	out.Blocks = blocksOf(groupsOf(out.Targets), out.troubled)
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
	out := targetsTab{Targets: got}
	out.Blocks = blocksOf(groupsOf(got), out.troubled)
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
	counts := map[key]preview.Counts{}
	for _, j := range t.Jobs {
		counts[key{j.Workload, j.Job}] = j.Counts
	}
	at := map[key]int{}
	for _, item := range t.Items {
		k := key{item.Workload, item.Job}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			g := targetGroup{Workload: item.Workload, Object: item.Object, Job: item.Job}
			if c, known := counts[k]; known {
				g.Summary, g.None = kept(c), c.Kept+c.OtherShard+c.Forbidden+c.Unknown == 0
			}
			out = append(out, g)
		}
		out[i].Rows = append(out[i].Rows, item)
	}
	return out
}

// manyRows is the number of targets of a job on a page up to which they are not folded.
const manyRows = 10

// blocksOf sorts the targets of each job, scraped ones first, and divides the jobs of a page into
// tables, those with problems first: with a troubled target, or with none that is scraped. Jobs with
// many targets fold, which are open if they have problems. A single job does not fold.
func blocksOf(groups []targetGroup, troubled func(preview.Target) bool) (out []targetBlock) {
	for _, g := range groups { // those that are down before those that are up
		rank := func(t preview.Target) int {
			if troubled(t) {
				return 2 * order(t.State)
			}
			return 2*order(t.State) + 1
		}
		slices.SortStableFunc(g.Rows, func(a, b preview.Target) int { return rank(a) - rank(b) })
	}
	has := func(g targetGroup) bool { return g.None || slices.ContainsFunc(g.Rows, troubled) }
	slices.SortStableFunc(groups, func(a, b targetGroup) int {
		switch x, y := has(a), has(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	for _, g := range groups {
		folds := len(g.Rows) > manyRows && len(groups) > 1
		if last := len(out) - 1; !folds && last >= 0 && !out[last].Folds {
			out[last].Groups = append(out[last].Groups, g)
			continue
		}
		out = append(out, targetBlock{Groups: []targetGroup{g}, Folds: folds, Open: has(g)})
	}
	return out
}

// troubled reports whether a target is not scraped although no rule drops it, or its last scrape
// failed.
func (t targetsTab) troubled(of preview.Target) bool {
	return order(of.State) == 1 && of.State != targets.Duplicate || t.Scrapes != nil && of.State == targets.Kept && t.Health(of).Health == "down"
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
