package livetargets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

const (
	// effort limits the time per page when a filter selects few of many targets. The page is then
	// shorter and has a continue token.
	effort = 60 * time.Millisecond
	// batch is the number of groups that are evaluated before the lock of the set is released.
	batch = 100
	// maxJobs and maxNotes limit the jobs and notes of a response.
	maxJobs  = 1000
	maxNotes = 20
)

// Targets implements [insight.Answers].
func (s *Source) Targets(ctx context.Context, r access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	s.requests.Add(1)
	if q.Pod.Name != "" {
		return s.ofPod(ctx, r, q)
	}
	if q.Of.Row == nil {
		return nil, apierrors.NewBadRequest("targets of what: name a workload, an object or a pod")
	}
	from, err := parseCursor(q.Continue)
	if err != nil {
		return nil, err
	}
	v := newView(ctx, r, q.Of.Namespace)
	v.requested = q.Of.Ref()
	jobs, notes, err := s.requestedJobs(ctx, q, v)
	if err != nil {
		return nil, err
	}
	a := answer{
		q: q, filter: targetset.Filter{State: q.State, Origin: q.Reason, Skip: q.Skip, Shard: q.Shard}, view: v,
		out: &insight.Targets{Items: []preview.Target{}, Jobs: []insight.JobCounts{}}, notes: notes,
	}
	a.out.Synced = settle(ctx, jobs)
	if jobs, err = s.narrow(jobs, v); err != nil {
		return nil, err
	}
	a.count(jobs, s.Denied)
	a.rows(jobs, from)
	a.out.AsOf, a.out.Notes = since(jobs), a.noted()
	return a.out, nil
}

// since returns when the targets of jobs last changed, which keeps responses identical until then.
func since(jobs []openJob) (out time.Time) {
	for _, j := range jobs {
		if at := j.set.Since(); at.After(out) {
			out = at
		}
	}
	if out.IsZero() { // no jobs
		out = time.Now()
	}
	return out.UTC().Truncate(time.Millisecond)
}

// requestedJobs returns the jobs of a request.
//
// Errors: the object does not exist; there is no such job.
func (s *Source) requestedJobs(ctx context.Context, q insight.TargetQuery, v *view) (jobs []openJob, notes []string, err error) {
	refs := []catalog.Ref{q.Of.Ref()}
	object := catalog.Ref{}
	if !q.Of.IsWorkload() {
		object = q.Of.Ref()
		if refs, notes, err = s.selecting(ctx, q.Of, v); err != nil {
			return nil, nil, err
		}
	}
	for _, ref := range refs {
		o, err := s.of(ref).open(ctx, func(j *job) bool {
			return (object == catalog.Ref{} || j.object.Ref == object) && (q.Job == "" || j.Name == q.Job)
		})
		if apierrors.IsNotFound(err) && object != (catalog.Ref{}) {
			continue // deleted in the meantime
		}
		if err != nil {
			return nil, nil, err
		}
		jobs, notes = append(jobs, o.jobs...), append(notes, v.notesOf(ref, o.notes)...)
		for _, bad := range o.rejected() {
			if bad.Ref == object {
				notes = append(notes, fmt.Sprintf("%s: the object is %s: %s", ref, bad.State, bad.Error))
			}
		}
	}
	if q.Job != "" && len(jobs) == 0 {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("parameter \"job\": %s has no job %q", q.Of.Ref(), q.Job))
	}
	return jobs, notes, nil
}

// settle waits up to [patience] for the jobs to be complete and reports whether they are.
func settle(ctx context.Context, jobs []openJob) bool {
	if slices.ContainsFunc(jobs, func(j openJob) bool { return j.reviewing }) {
		return false
	}
	until := time.Now().Add(patience)
	for i := 0; i < len(jobs); {
		if jobs[i].set.Complete() {
			i++
			continue
		}
		if !time.Now().Before(until) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

// answer is a response under construction.
type answer struct {
	q      insight.TargetQuery
	filter targetset.Filter
	view   *view
	out    *insight.Targets
	// gaps explain why targets are not known. They come before the other notes.
	gaps, notes []string
}

// noted returns the deduplicated notes, at most maxNotes.
func (a *answer) noted() (out []string) {
	for _, text := range slices.Concat(a.gaps, a.notes) {
		if !slices.Contains(out, text) && len(out) < maxNotes {
			out = append(out, text)
		}
	}
	return out
}

// count adds the counts of all jobs.
func (a *answer) count(jobs []openJob, denied string) {
	for _, j := range jobs {
		of := countsOf(j.set, a.filter.Shard)
		if !a.view.details(j.object.Ref) {
			of.Dropped = withoutKeys(of.Dropped)
		}
		a.out.Counts.Add(&of.Counts)
		if a.mayFilter(j) {
			a.out.Total += of.all.Total(a.filter)
		}
		if len(a.out.Jobs) < maxJobs {
			a.out.Jobs = append(a.out.Jobs, insight.JobCounts{Workload: j.of, Object: j.object.Ref, Job: j.Name, Counts: of.Counts})
		}
		for _, gap := range of.gaps {
			if a.listsGap(gap) {
				a.out.Total++
			}
			a.gap(gap, denied)
		}
		a.outdated(j, denied)
	}
	if n := len(jobs) - maxJobs; n > 0 {
		a.notes = append(a.notes, fmt.Sprintf("%d more jobs are not listed; ask for one by its name", n))
	}
}

// gap adds a note about an incomplete discovery.
func (a *answer) gap(gap targets.Gap, denied string) {
	if text := textOf(gap, denied); len(a.gaps) < maxNotes && !slices.Contains(a.gaps, text) {
		a.gaps = append(a.gaps, text)
	}
}

// textOf returns the message of a gap, with a hint on how to grant a missing permission.
func textOf(gap targets.Gap, denied string) string {
	if gap.Refused && denied != "" {
		return gap.Message + "; " + denied
	}
	return gap.Message
}

// appendOutdated adds notes about stale discoveries, without duplicates.
func appendOutdated(notes []string, outdated []targets.Gap, denied string) []string {
	for _, gap := range outdated {
		if text := textOf(gap, denied); !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	return notes
}

// outdated adds notes about discoveries that were read once and now fail.
func (a *answer) outdated(j openJob, denied string) {
	for _, gap := range j.set.Outdated() {
		a.gap(gap, denied)
	}
}

func (a *answer) listsGap(gap targets.Gap) bool {
	return a.filter.Origin == "" && (a.filter.State == "" || a.filter.State == gap.State)
}

// rows adds the targets of one page.
func (a *answer) rows(jobs []openJob, from *cursor) {
	defer func() { a.notes = append(a.notes, a.view.notes()...) }()
	until := time.Now().Add(effort)
	first := from.begin(jobs)
	for i := first; i < len(jobs); i++ {
		j := jobs[i]
		if !a.mayFilter(j) {
			continue
		}
		start := cursor{Workload: j.of, Job: j.Name, At: j.at}
		if i == first && from != nil {
			start.Group, start.Row, start.Gap = from.Group, from.Row, from.Gap
		}
		if next := a.job(j, start, until); next != nil {
			a.out.Continue = next.String()
			return
		}
	}
}

// job adds rows of a job and returns where the next page begins, or nil after the last row.
func (a *answer) job(j openJob, at cursor, until time.Time) (next *cursor) {
	// group adds the rows of one group and reports whether there is room for more.
	group := func(key targetset.Key, r targets.Result) bool {
		first := 0
		if at.Group != nil && *at.Group == key {
			first = at.Row
		}
		for i := first; i < len(r.Rows); i++ {
			if !a.filter.Selects(&r.Rows[i]) {
				continue
			}
			t, visible := a.view.shown(j, key, r, i)
			switch {
			case !matches(t, visible, a.q.Filter):
				continue
			case len(a.out.Items) >= max(1, a.q.Limit):
				next = &cursor{Workload: j.of, Job: j.Name, At: j.at, Group: &key, Row: i}
				return false
			}
			a.out.Items = append(a.out.Items, t)
		}
		if time.Now().After(until) {
			next = &cursor{Workload: j.of, Job: j.Name, At: j.at, Group: &key, Row: len(r.Rows)}
			return false
		}
		return true
	}
	after := at.Group
	if at.Gap == 0 && after != nil {
		if r, ok := j.set.Result(*after, a.filter.Shard); ok && !group(*after, r) {
			return next
		}
	}
	for more := at.Gap == 0; more; more = after != nil {
		after = j.set.Page(after, batch, a.filter, group)
		if next != nil {
			return next
		}
	}
	for i, gap := range j.set.AllGaps() {
		switch {
		case i+1 < at.Gap || !a.listsGap(gap) || a.q.Filter != "":
		case len(a.out.Items) >= max(1, a.q.Limit):
			return &cursor{Workload: j.of, Job: j.Name, At: j.at, Gap: i + 1}
		default:
			a.out.Items = append(a.out.Items, preview.Target{Workload: j.of, Object: j.object.Ref,
				Target: targets.Target{Job: j.Name, State: gap.State, Shards: []int{}, Message: gap.Message}})
		}
	}
	return nil
}

// matches reports whether the names and labels of a target that are visible to the caller contain
// part.
func matches(t preview.Target, visible bool, part string) bool {
	if part == "" {
		return true
	}
	has := func(text string) bool { return strings.Contains(text, part) }
	return has(t.Source.Name) || visible && (has(t.URL) || has(t.Source.Pod) || has(t.Source.Node) || has(t.Labels["instance"]))
}
