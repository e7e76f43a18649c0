package lister

import (
	"context"
	"runtime"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Cluster provides access to a cluster.
type Cluster struct {
	// Kube has the permissions of the caller. Its rate limits apply.
	Kube kubernetes.Interface
	// Applied (optional) are objects that replace those in the cluster.
	Applied *discovery.Objects
	// Brief is true if targets that all jobs drop by the labels of their group need no labels of their own, see
	// [discovery.Objects.LookBriefly].
	Brief bool
	// Who (optional) is the holder of those permissions in messages: "the operator". Default:
	// "you".
	Who string
}

// Workload is the workload for which targets are discovered.
type Workload struct {
	// Namespace of its pods, for discoveries in their own namespace.
	Namespace string
	// ServiceAccount of its pods; empty for "default".
	ServiceAccount string
	// Exists (optional) reports whether a namespace exists. In others, there is nothing to discover.
	Exists func(namespace string) bool
	// Before (optional) are the denials that were found last.
	Before Denials
}

// Answer is the result of the discoveries of jobs.
type Answer struct {
	// Found has an entry for each job.
	Found []targets.Found
	// Notes are sentences about unknown circumstances that concern all results. They do not
	// invalidate the results.
	Notes []string
}

// Find reads the objects that the discoveries of the jobs need.
//
// A read that is forbidden or fails is a gap of state unknown. If the ServiceAccount of the
// workload lacks permission to list or watch, Prometheus finds nothing: that is a gap of state
// forbidden, and nothing is read. A caller that may not create access reviews gets a note.
//
// Errors: the error of the context.
func (c Cluster) Find(ctx context.Context, jobs []targets.Job, w Workload) (Answer, error) {
	p := newPlan(jobs, w.Namespace)
	r := reading{plan: p, account: w.account(), applied: c.Applied}
	if c.Brief {
		r.jobs = jobs
	}
	r.denied, r.notes = c.denied(ctx, r.account, p.places())
	r.read = c.readAll(ctx, p.lists(r.denied))
	r.makeGroups()
	if err := context.Cause(ctx); err != nil {
		return Answer{}, err
	}
	out := Answer{Found: make([]targets.Found, len(jobs)), Notes: r.notes}
	for i, n := range p.jobs {
		out.Found[i] = r.found(n)
	}
	return out, nil
}

// reading has the objects that were read for a plan.
type reading struct {
	plan    plan
	jobs    []targets.Job // nil: groups have all targets
	account account
	applied *discovery.Objects
	denied  map[where][]string // verbs that the account lacks
	read    map[list]content
	notes   []string
	views   []targets.Found // the result of each
}

// makeGroups builds the groups of all views.
func (r *reading) makeGroups() {
	r.views = make([]targets.Found, len(r.plan.views))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, v := range r.plan.views {
		g.Go(func() error {
			r.views[i] = r.groupsOf(v)
			return nil
		})
	}
	_ = g.Wait()
}

// groupsOf returns the groups of a view, or the gaps why there are none.
func (r *reading) groupsOf(v *view) (out targets.Found) {
	gap := func(state targets.State, message string) {
		out.Gaps = append(out.Gaps, targets.Gap{State: state, Message: message})
	}
	for _, l := range v.lists {
		if verbs := r.denied[l.where()]; verbs != nil {
			gap(targets.Forbidden, forbidden(r.account, verbs, l.where(), v))
		}
	}
	if out.Gaps != nil {
		return out
	}
	var objects, before discovery.Objects
	for _, l := range v.lists {
		got := r.read[l]
		if got.err != nil {
			gap(targets.Unknown, unread(got.err, l.where(), v))
			continue
		}
		there, err := r.with(l, got.objects)
		if err != nil {
			gap(targets.Unknown, "kubernetes discovery: "+err.Error())
			continue
		}
		objects.Join(there)
		if r.applied != nil {
			before.Join(got.objects)
		}
	}
	if out.Gaps != nil {
		return out
	}
	if r.applied != nil {
		out.Gaps = objects.Follow(&v.sd, r.applied, &before)
	}
	found, err := r.build(&objects, v)
	if err != nil {
		return targets.Found{Gaps: []targets.Gap{{State: targets.Unknown, Message: "kubernetes discovery: " + err.Error()}}}
	}
	out.Groups, out.Gaps = found.Groups, append(out.Gaps, found.Gaps...)
	return out
}

// build returns the groups of objects.
func (r *reading) build(objects *discovery.Objects, v *view) (targets.Found, error) {
	if r.jobs == nil {
		return objects.Look(&v.sd, "")
	}
	var all []targets.Dropper
	for _, i := range v.jobs {
		all = append(all, r.jobs[i].Dropper())
	}
	return objects.LookBriefly(&v.sd, "", func(group model.LabelSet, ofTarget func(model.LabelName) bool) bool {
		return !slices.ContainsFunc(all, func(d targets.Dropper) bool { return !d.Drops(group, ofTarget) })
	})
}

// with returns a list with the applied objects on top of it.
func (r *reading) with(l list, there *discovery.Objects) (*discovery.Objects, error) {
	if r.applied == nil {
		return there, nil
	}
	return r.applied.Over(there, l.kind.Role, l.namespace, l.label, l.field)
}

// found returns the result for a job from its views.
func (r *reading) found(n need) targets.Found {
	out := targets.Found{Gaps: n.gaps, Groups: []*targetgroup.Group{}}
	for _, i := range n.views {
		out.Groups = append(out.Groups, r.views[i].Groups...)
		out.Gaps = append(out.Gaps, r.views[i].Gaps...)
	}
	return out
}
