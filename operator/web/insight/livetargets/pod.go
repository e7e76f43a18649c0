package livetargets

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// ofPod returns the targets of a pod in all workloads. It considers the jobs that discover targets
// in the namespace of the pod.
//
// Errors: the pod certainly does not exist and no job finds it.
func (s *Source) ofPod(ctx context.Context, r access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	from, err := parseCursor(q.Continue)
	if err != nil {
		return nil, err
	}
	v := newView(ctx, r, q.Pod.Namespace)
	all, notes, err := s.scrapers(ctx)
	if err != nil {
		return nil, err
	}
	var jobs []openJob
	for _, c := range all {
		o, err := s.of(c.Ref()).open(ctx, func(j *job) bool {
			return (q.Job == "" || j.Name == q.Job) && looksIn(j, c.Ref().Namespace, q.Pod.Namespace)
		})
		switch {
		case apierrors.IsNotFound(err): // deleted in the meantime
		case err != nil:
			return nil, err
		default:
			jobs, notes = append(jobs, o.jobs...), append(notes, v.notesOf(c.Ref(), o.notes)...)
		}
	}
	a := answer{
		q: q, filter: targetset.Filter{State: q.State, Origin: q.Reason, Skip: q.Skip, Shard: q.Shard}, view: v,
		out: &insight.Targets{Items: []preview.Target{}, Jobs: []insight.JobCounts{}}, notes: notes,
	}
	a.out.Synced = settle(ctx, jobs)
	if jobs, err = s.narrow(jobs, v); err != nil {
		return nil, err
	}
	v.limited = v.nothing // other namespaces are not requested
	of, unread := s.address(ctx, q)
	if err := a.pod(ctx, jobs, of, from, s.Denied); err != nil {
		return nil, err
	}
	if unread != nil && a.out.Counts.Total() == 0 {
		if apierrors.IsNotFound(unread) {
			return nil, unread
		}
		a.notes = append(a.notes, fmt.Sprintf("no job finds the pod %s; whether there is such a pod is not known: %v", q.Pod, unread))
	}
	a.out.AsOf, a.out.Notes = since(jobs), a.noted()
	return a.out, nil
}

// looksIn reports whether a job may find a pod of a namespace. own is the namespace of the
// workload.
func looksIn(j *job, own, namespace string) bool {
	for sd := range discovery.Distinct(j.Job) {
		scopes := discovery.Namespaces(sd, own)
		if sd.Role != "node" && sd.Role != "ingress" && (scopes == nil || slices.Contains(scopes, namespace)) {
			return true
		}
	}
	return len(j.Static) > 0
}

// address returns a query with the IP of the pod. The IP is empty if it is unknown or shared with
// the host.
//
// Errors: the pod does not exist or cannot be read; the query without IP is still returned.
func (s *Source) address(ctx context.Context, q insight.TargetQuery) (preview.Query, error) {
	out := preview.Query{Pod: q.Pod, Shard: q.Shard}
	object, err := s.Reader.Get(ctx, readers.Pods, q.Pod)
	if err != nil {
		return out, err
	}
	if pod := object.(*corev1.Pod); !pod.Spec.HostNetwork {
		out.IP = pod.Status.PodIP
	}
	return out, nil
}

// podLabels are the labels with the name of a target's pod.
var podLabels = []model.LabelName{
	"__meta_kubernetes_pod_name", "__meta_kubernetes_endpoint_address_target_name", "__meta_kubernetes_endpointslice_address_target_name",
}

// mentions reports whether a group may have a target of a pod.
func mentions(group *targetgroup.Group, of preview.Query) bool {
	in := func(l model.LabelSet) bool {
		host, _, err := net.SplitHostPort(string(l["__address__"]))
		if err != nil {
			host = string(l["__address__"])
		}
		return of.IP != "" && host == of.IP || slices.ContainsFunc(podLabels, func(name model.LabelName) bool { return string(l[name]) == of.Pod.Name })
	}
	return in(group.Labels) || slices.ContainsFunc(group.Targets, in)
}

// podPage collects a page of the targets of a pod, and the URLs that several jobs scrape.
type podPage struct {
	*answer
	from  *cursor
	first int // index of the job with the first target of the page
	twice overlaps
}

// add adds a target of the job with an index, if it is on the page.
func (p *podPage) add(at int, j openJob, key targetset.Key, r targets.Result, i int) {
	row := &r.Rows[i]
	if row.State == targets.Kept && len(p.twice.all) < maxScrapes {
		if t, visible := p.view.shown(j, key, r, i); visible {
			p.twice.add(j, r.Target(i).URL, t.URL)
		}
	}
	if !p.filter.Selects(row) {
		return
	}
	p.out.Total++
	switch here := (cursor{Workload: j.of, Job: j.Name, At: j.at, Group: &key, Row: i}); {
	case at < p.first || at == p.first && p.from.after(key, i), p.out.Continue != "":
	case len(p.out.Items) >= max(1, p.q.Limit):
		p.out.Continue = here.String()
	default:
		t, _ := p.view.shown(j, key, r, i)
		p.out.Items = append(p.out.Items, t)
	}
}

// pod adds the counts of a pod's targets and one page of the targets.
func (a *answer) pod(ctx context.Context, jobs []openJob, of preview.Query, from *cursor, denied string) error {
	memo, page := targetset.Memo{}, podPage{answer: a, from: from, first: from.begin(jobs)}
	for at, j := range jobs {
		if !a.mayFilter(j) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		counts := preview.Counts{}
		j.set.In(of.Pod.Namespace, memo, func(g *targetgroup.Group) bool { return mentions(g, of) }, func(key targetset.Key) {
			r, ok := j.set.Result(key, a.filter.Shard)
			for i := 0; ok && i < len(r.Rows); i++ {
				if preview.IsAbout(&r.Rows[i], of) {
					counts.AddRow(&r.Rows[i])
					page.add(at, j, key, r, i)
				}
			}
		})
		for _, gap := range j.set.Gaps() {
			a.gap(gap, denied)
			a.out.Counts.AddState(gap.State, "", 1)
		}
		a.outdated(j, denied)
		if !a.view.details(j.object.Ref) {
			counts.Dropped = withoutKeys(counts.Dropped)
		}
		if counts.Total() > 0 {
			a.out.Counts.Add(&counts)
			a.out.Jobs = append(a.out.Jobs, insight.JobCounts{Workload: j.of, Object: j.object.Ref, Job: j.Name, Counts: counts})
		}
	}
	a.out.Overlaps = page.twice.list()
	a.notes = append(a.notes, a.view.notes()...)
	return nil
}
