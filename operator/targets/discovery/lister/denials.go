package lister

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Denials are the permissions to list and watch that the ServiceAccount of a workload lacks for the
// discoveries of its jobs. The zero value denies nothing.
type Denials struct {
	account account
	may     reviews
	absent  map[string]bool // namespaces that jobs name and that do not exist
	// reviewed is true if a review succeeded once. From then on, unreviewed permissions count as denied.
	reviewed bool
	left     float64   // number of access reviews that the workload may cause
	at       time.Time // of left
}

// Denied checks which permissions for the discoveries of jobs the ServiceAccount of a workload lacks. The notes are the
// reasons why that is unknown. It repeats only outdated reviews of [Workload.Before].
//
// An object can name any number of namespaces, so a workload may cause a limited number of reviews per minute. The
// namespaces of its objects take turns in that. The next call requests the rest; until then, only known denials are
// returned.
func (c Cluster) Denied(ctx context.Context, jobs []targets.Job, w Workload) (Denials, []string) {
	out, before, now := Denials{account: w.account(), left: maxReviews, at: time.Now()}, reviews(nil), time.Now()
	if w.Before.account == out.account {
		before, out.reviewed = w.Before.may, w.Before.reviewed
		out.left = min(maxReviews, w.Before.left+maxReviews*now.Sub(w.Before.at).Seconds()/maxReviewsIn.Seconds())
	}
	p, absent := placesOf(jobs, w)
	out.absent = absent
	may, n, cause := c.review(ctx, out.account, p, before, int(out.left))
	out.may = may
	out.left -= float64(n)
	out.reviewed = out.reviewed || cause == nil
	return out, c.note(out.account, cause)
}

// Same reports whether others have the same effect on any job.
func (d Denials) Same(o Denials) bool {
	return d.account == o.account && d.reviewed == o.reviewed && maps.Equal(d.absent, o.absent) &&
		maps.EqualFunc(d.may, o.may, func(a, b decision) bool { return a.may == b.may })
}

// placesOf returns what jobs discover in namespaces that exist, and the other namespaces that they name.
func placesOf(jobs []targets.Job, w Workload) (out places, absent map[string]bool) {
	out, absent = places{}, map[string]bool{}
	for i := range jobs {
		for sd := range discovery.Distinct(&jobs[i]) {
			kinds, err := discovery.LocalKinds(sd)
			if err != nil {
				continue
			}
			for _, scope := range scopesOf(sd, w.Namespace, kinds[0]) {
				if scope != "" && w.Exists != nil && !w.Exists(scope) {
					absent[scope] = true
				} else {
					out.add(objectNamespace(jobs[i].Name), scope, kinds)
				}
			}
		}
	}
	return out, absent
}

// add adds kinds that an object in namespace of discovers in a scope.
func (p places) add(of, scope string, kinds []discovery.Kind) {
	if p[of] == nil {
		p[of] = map[where]bool{}
	}
	for _, kind := range kinds {
		p[of][where{kind, kind.In(scope)}] = true
	}
}

// objectNamespace returns the namespace of the object of a job: "podMonitor/NAMESPACE/NAME/0".
func objectNamespace(job string) string {
	_, rest, _ := strings.Cut(job, "/")
	namespace, _, _ := strings.Cut(rest, "/")
	return namespace
}

// mostGaps is the maximum number of gaps of one discovery with the same state.
const mostGaps = 10

// Allowed returns the permitted part of a discovery of a workload in namespace own, nil if there is
// none, and gaps for the namespaces in which Prometheus may not discover, or in which its permissions are
// unknown.
func (d Denials) Allowed(sd *targets.KubernetesSD, own string) (*targets.KubernetesSD, []targets.Gap) {
	views, err := viewsOf(sd, own)
	if !d.reviewed && len(d.may) == 0 || err != nil {
		return sd, nil // the subscription reports the error
	}
	var gaps gaps
	var scopes []string
	for _, v := range views {
		if d.absent[v.scope] {
			continue
		}
		if before := gaps.n; !d.gaps(v, &gaps) && gaps.n == before {
			scopes = append(scopes, v.scope)
		}
	}
	switch {
	case len(scopes) == len(views):
		return sd, nil
	case len(scopes) == 0:
		return nil, gaps.all()
	}
	out := *sd
	out.Namespaces = targets.Namespaces{Names: scopes}
	return &out, gaps.all()
}

// gaps adds the gaps of a view and reports whether there are any.
func (d Denials) gaps(v *view, to *gaps) (any bool) {
	for _, l := range v.lists {
		switch lacks, known := d.may.lacks(l.where()); {
		case lacks != nil:
			to.add(targets.Forbidden, func() string { return forbidden(d.account, lacks, l.where(), v) })
			any = true
		case !known && d.reviewed:
			to.add(targets.Unknown, func() string { return unreviewed(d.account, l.where(), v) })
			any = true
		}
	}
	return any
}

// gaps are the gaps of a discovery. Of many, it has some and the number of the others.
type gaps struct {
	few     []targets.Gap
	n       int
	perhaps map[targets.State]int
}

func (g *gaps) add(state targets.State, message func() string) {
	if g.perhaps == nil {
		g.perhaps = map[targets.State]int{}
	}
	g.n++
	if g.perhaps[state]++; g.perhaps[state] <= mostGaps {
		g.few = append(g.few, targets.Gap{State: state, Message: message()})
	}
}

// all returns the gaps, with one for those that have no message.
func (g *gaps) all() []targets.Gap {
	out := g.few
	for _, state := range []targets.State{targets.Forbidden, targets.Unknown} {
		if more := g.perhaps[state] - mostGaps; more > 0 {
			out = append(out, targets.Gap{State: state, Message: fmt.Sprintf("the same is so for %d more resources in namespaces that the job names", more)})
		}
	}
	return out
}

// Key returns a key that is equal for denials with the same effect on a job.
func (d Denials) Key(j *targets.Job, own string) string {
	out := sha256.New()
	for sd := range discovery.Distinct(j) {
		left, gaps := d.Allowed(sd, own)
		switch {
		case left == nil:
			fmt.Fprintln(out, "nothing")
		case left == sd:
			fmt.Fprintln(out, "all")
		default:
			fmt.Fprintf(out, "%q\n", left.Namespaces.Names)
		}
		for _, gap := range gaps {
			fmt.Fprintln(out, gap.State, gap.Message)
		}
	}
	return string(out.Sum(nil))
}
