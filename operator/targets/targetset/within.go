package targetset

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Scope is the visible part of a discovery.
type Scope struct {
	All bool
	// Namespaces that are visible if All is false.
	Namespaces []string
}

// within is a part of a job at the time of the request.
type within struct {
	of     *Followed
	groups map[Key]*targetgroup.Group
}

// Within returns the job restricted to its visible groups: other groups affect neither states nor
// counts. Without foreign, groups with labels of pods in other namespaces are excluded. The visible
// groups are evaluated immediately and not followed; the result needs no Close.
//
// Errors: the error of ctx.
func (f *Followed) Within(ctx context.Context, scope func(*targets.KubernetesSD) Scope, foreign bool) (*Followed, error) {
	scopes, all := make([]Scope, len(f.sds)), foreign
	for i, sd := range f.sds {
		scopes[i] = scope(sd)
		all = all && scopes[i].All
	}
	if all || f.within != nil {
		return f, nil
	}
	out := &Followed{job: f.job, sds: f.sds, subs: f.subs, gaps: f.gaps, set: New(f.job), within: &within{of: f, groups: map[Key]*targetgroup.Group{}}}
	for i, sub := range f.subs {
		take := func(source string, group *targetgroup.Group) {
			if ctx.Err() == nil && !f.Crowded() && (foreign || !sub.Foreign(source)) {
				key := Key{i, source}
				out.within.groups[key] = group
				out.set.Put(key, group)
			}
		}
		if scopes[i].All {
			sub.Each(func(group *targetgroup.Group) { take(group.Source, group) })
		}
		for _, namespace := range scopes[i].Namespaces {
			sub.In(namespace, take)
		}
	}
	out.seen.Store(&seen{out.set.Counts(), f.sinceOf(out.within.groups)})
	return out, ctx.Err()
}

// sinceOf returns the time of the last change in a set of groups; if it is empty, the time when
// following began.
func (f *Followed) sinceOf(groups map[Key]*targetgroup.Group) (out time.Time) {
	f.reading.Lock()
	defer f.reading.Unlock()
	out = f.begun
	for key := range groups {
		if p := f.set.parts[key]; p != nil && p.since.After(out) {
			out = p.since
		}
	}
	return out
}

// Limited reports whether it is restricted to a part of the job.
func (f *Followed) Limited() bool { return f.within != nil }

// in calls each with the groups of the objects of a namespace, "" for cluster-scoped objects.
func (w *within) in(namespace string, has func(*targetgroup.Group) bool, each func(Key)) {
	w.each(func(group *targetgroup.Group) bool {
		_, object, _ := strings.Cut(group.Source, "/")
		of, _, namespaced := strings.Cut(object, "/")
		if !namespaced {
			of = ""
		}
		return of == namespace && has(group)
	}, each)
}

func (w *within) each(has func(*targetgroup.Group) bool, each func(Key)) {
	for key, group := range w.groups {
		if has(group) {
			each(key)
		}
	}
}
