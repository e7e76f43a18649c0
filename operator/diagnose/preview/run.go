package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// run is the state of a query while its report is built.
type run struct {
	Query
	report *Report
	twice  overlaps
}

// Run executes a query about workloads.
//
// Errors: the discovery of a workload failed; the error of ctx.
func Run(ctx context.Context, all []Workload, f Finder, q Query) (Report, error) {
	out := Report{Workloads: []WorkloadResult{}, Items: []Target{}, question: q}
	r := run{Query: q, report: &out}
	for i := range all {
		w := &all[i]
		if (q.Workload != catalog.Ref{}) && q.Workload != w.Ref {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := r.workload(ctx, w, f); err != nil {
			return out, fmt.Errorf("find the targets of %s: %w", w.Ref, err)
		}
	}
	return out, nil
}

// workload adds a workload to the report.
func (r *run) workload(ctx context.Context, w *Workload, f Finder) error {
	o := WorkloadResult{Ref: w.Ref, Shards: w.Shards, PerNode: w.PerNode, Error: w.Error, Notes: slices.Clone(w.Notes), Objects: []Object{}}
	found, notes, err := f.Find(ctx, r.evaluated(w), w)
	if err = cmp.Or(err, ctx.Err()); err != nil { // the caller may have canceled meanwhile
		return err
	}
	o.Notes = append(o.Notes, notes...)
	r.twice = overlaps{}
	running := comparison{w: w, partial: w.Error != "", all: r.Object == catalog.Ref{} && r.Job == ""}
	for k := range w.parts {
		p := &w.parts[k]
		running.partial = running.partial || p.object.State == Unknown
		object := p.object
		for i := range p.jobs {
			if !r.evaluates(p.object.Ref, p.jobs[i].Name) {
				continue
			}
			result, err := p.jobs[i].EvaluateWithin(ctx, found[0])
			if err != nil {
				return err
			}
			if w.reshard != nil {
				w.reshard.job(object.Namespace, result)
			}
			found = found[1:] // release the groups of evaluated jobs
			if r.Overlaps {
				r.twice.add(w, object.Ref, result, &r.Query)
			}
			if r.asksFor(object.Ref, p.jobs[i].Name) {
				object.Jobs = append(object.Jobs, r.job(w, p, &p.jobs[i], result))
				if r.Servers != nil {
					running.add(object.Ref, p.jobs[i].Name, result)
				}
			}
		}
		if r.asksForObject(object) {
			o.add(object)
			r.without(w, &o.Objects[len(o.Objects)-1])
		}
	}
	r.report.Overlaps = append(r.report.Overlaps, r.twice.list(w, &r.Query)...)
	if w.reshard != nil {
		r.report.Resharding = w.reshard.result()
	}
	if r.Servers != nil && w.Error == "" {
		r.report.Comparisons = append(r.report.Comparisons, running.with(r.Servers.Targets(ctx, w, r.Shard)))
	}
	if r.Namespace != "" && len(o.Objects) == 0 && o.Error == "" {
		return nil
	}
	r.report.Counts.Add(&o.Counts)
	r.report.Workloads = append(r.report.Workloads, o)
	return nil
}

// evaluated returns the jobs whose targets are needed.
func (r *run) evaluated(w *Workload) (jobs []targets.Job) {
	for _, p := range w.parts {
		for i := range p.jobs {
			if r.evaluates(p.object.Ref, p.jobs[i].Name) {
				jobs = append(jobs, p.jobs[i])
			}
		}
	}
	return jobs
}

// evaluates reports whether the targets of a job are needed: overlaps need those of all jobs.
func (r *run) evaluates(object catalog.Ref, job string) bool {
	return r.Overlaps || r.asksFor(object, job)
}

// asksForObject reports whether an object is to be included. In a report about a pod, only objects
// that discover it are.
func (r *run) asksForObject(o Object) bool {
	if (r.Object != catalog.Ref{}) && r.Object != o.Ref || r.Job != "" && len(o.Jobs) == 0 || !r.in(o.Ref) {
		return false
	}
	return r.Pod.Name == "" || slices.ContainsFunc(o.Jobs, func(j Job) bool { return j.Counts.scraped() > 0 || len(j.Reasons) > 0 })
}

// add adds an object and its counts.
func (o *WorkloadResult) add(object Object) {
	for i := range object.Jobs {
		j := &object.Jobs[i]
		object.Counts.Add(&j.Counts)
		if j.PerShard != nil && o.PerShard == nil {
			o.PerShard = make([]int, len(j.PerShard))
		}
		for shard, n := range j.PerShard {
			o.PerShard[shard] += n
		}
	}
	o.Counts.Add(&object.Counts)
	o.Objects = append(o.Objects, object)
}

// job returns the report on a job, and lists its targets within the limit.
func (r *run) job(w *Workload, p *part, j *targets.Job, result targets.Result) Job {
	out := Job{Name: j.Name, Hints: r.hints(w, p, j, result)}
	if w.Shards > 1 {
		out.PerShard = make([]int, w.Shards)
	}
	shown := result
	if r.Shard != AllShards {
		shown = result.OnShard(r.Shard)
	}
	var why reasons
	for i := range shown.Rows {
		t := &shown.Rows[i]
		if !r.about(t) {
			continue
		}
		out.Counts.AddRow(t)
		if t.State != targets.OtherShard {
			why.add(t)
		}
		for _, shard := range t.Shards {
			if out.PerShard != nil {
				out.PerShard[shard]++
			}
		}
		if r.lists(t) {
			r.list(&out, w.Ref, p.object.Ref, shown, i)
		}
	}
	out.Reasons = why.list()
	return out
}

// hints returns hints about a job without targets.
func (r *run) hints(w *Workload, p *part, j *targets.Job, result targets.Result) (out []explain.Hint) {
	scraped := func(row targets.Row) bool { return row.State == targets.Kept || row.State == targets.OtherShard }
	if r.Look == nil || r.Pod.Name != "" || slices.ContainsFunc(result.Rows, scraped) {
		return nil
	}
	uses := []nearmiss.Use{p.use}
	uses[0].Searches = slices.DeleteFunc(slices.Clone(p.use.Searches), func(s nearmiss.Search) bool { return s.Job != j.Name })
	if len(uses[0].Searches) == 0 {
		return nil
	}
	view, _ := r.Look(w.object, uses) // the targets report gaps already
	for _, h := range append(view.Hints(uses[0], w.Namespace), view.Permissions(w.object, uses)...) {
		if h.Code == nearmiss.NoTarget || h.Code == nearmiss.Permission {
			out = append(out, explain.Hint{Hint: h})
		}
	}
	return out
}

// list adds a row of a result to the list, within the limit.
func (r *run) list(j *Job, owner, object catalog.Ref, from targets.Result, i int) {
	if r.Limit > 0 && len(r.report.Items) >= r.Limit {
		r.report.Omitted++
		return
	}
	t := Target{owner, object, from.Target(i).Redacted()}
	r.report.Items = append(r.report.Items, t)
	j.listed = append(j.listed, t)
}

// without records rejected objects and jobs without targets. It skips queries for a pod, where jobs
// without targets are expected.
func (r *run) without(w *Workload, o *Object) {
	add := func(job, message string) {
		r.report.WithoutTargets = append(r.report.WithoutTargets, Without{w.Ref, o.Ref, job, message})
	}
	if r.Pod.Name != "" {
		return
	}
	if o.State == Rejected {
		add("", "rejected: "+o.Error)
	}
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.Counts.scraped() == 0 && j.Counts.gaps() == 0 {
			add(j.Name, j.Summary())
		}
	}
}
