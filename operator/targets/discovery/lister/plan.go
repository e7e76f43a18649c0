package lister

import (
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// list is a list request to the API.
type list struct {
	kind discovery.Kind
	// namespace is empty for all namespaces and for cluster-scoped kinds.
	namespace    string
	label, field string // selectors
}

// where is a kind in a namespace, the unit of permissions.
type where struct {
	kind      discovery.Kind
	namespace string
}

// view is a discovery in one namespace, or in all at once. Prometheus finds nothing in it unless it
// can read all of its lists.
type view struct {
	sd    targets.KubernetesSD // role and metadata; the other settings are in the lists
	scope string               // namespace, "" for all
	lists []list
	jobs  []int // indices of the jobs that use it
}

// key returns a key that is equal for views with the same result.
func (v *view) key() string {
	return fmt.Sprintf("%v %+v %+v", v.sd.Release, v.sd.AttachMetadata, v.lists)
}

// plan has the lists to read for jobs.
type plan struct {
	// jobs have an entry for each job.
	jobs  []need
	views []*view
}

// need has the views of one job.
type need struct {
	views []int // indices into the views of the plan
	gaps  []targets.Gap
}

// newPlan plans the discoveries of jobs of a workload in a namespace.
func newPlan(jobs []targets.Job, own string) plan {
	out := plan{jobs: make([]need, len(jobs))}
	known := map[string]int{}
	for i := range jobs {
		n := &out.jobs[i]
		for sd := range discovery.Distinct(&jobs[i]) {
			views, err := viewsOf(sd, own)
			if err != nil {
				n.gaps = append(n.gaps, targets.Gap{State: targets.Unknown, Message: err.Error()})
				continue
			}
			for _, v := range views {
				at, ok := known[v.key()]
				if !ok {
					at = len(out.views)
					known[v.key()] = at
					out.views = append(out.views, v)
				}
				n.views = append(n.views, at)
				out.views[at].jobs = append(out.views[at].jobs, i)
			}
		}
	}
	return out
}

// viewsOf returns the views of a discovery.
//
// Errors: it uses another cluster; an unknown role; selectors that cannot be parsed.
func viewsOf(sd *targets.KubernetesSD, own string) (out []*view, err error) {
	kinds, err := discovery.LocalKinds(sd)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopesOf(sd, own, kinds[0]) {
		v := &view{sd: targets.KubernetesSD{Role: sd.Role, AttachMetadata: sd.AttachMetadata, Release: sd.Release}, scope: scope}
		for _, kind := range kinds {
			l := list{kind: kind, namespace: kind.In(scope)}
			if l.label, l.field, err = discovery.Selectors(sd, kind.Role); err != nil {
				return nil, fmt.Errorf("kubernetes discovery: %w", err)
			}
			v.lists = append(v.lists, l)
		}
		out = append(out, v)
	}
	return out, nil
}

// scopesOf returns the namespaces of a discovery of objects of a kind, or only "" for all.
func scopesOf(sd *targets.KubernetesSD, own string, primary discovery.Kind) []string {
	if scopes := discovery.Namespaces(sd, own); len(scopes) > 0 && !primary.ClusterScoped {
		return scopes
	}
	return []string{""}
}

// places returns the places of all lists without duplicates.
func (p plan) places() (out []where) {
	seen := map[where]bool{}
	for _, v := range p.views {
		for _, l := range v.lists {
			if w := l.where(); !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// lists returns the lists of the permitted views without duplicates.
func (p plan) lists(denied map[where][]string) (out []list) {
	seen := map[list]bool{}
	for _, v := range p.views {
		if slices.ContainsFunc(v.lists, func(l list) bool { return denied[l.where()] != nil }) {
			continue
		}
		for _, l := range v.lists {
			if !seen[l] {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	return out
}

func (l list) where() where { return where{l.kind, l.namespace} }
