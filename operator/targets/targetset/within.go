package targetset

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Scope is what of a discovery of a job may be seen.
type Scope struct {
	All bool
	// Namespaces are those that may be seen if not all may be.
	Namespaces []string
}

// within is a part of a job, as it was when somebody asked.
type within struct {
	of     *Followed
	groups map[Key]*targetgroup.Group
}

// Within returns the job as if nothing could be found in it but what may be seen: what is
// elsewhere changes neither a state nor a number. Without foreign, groups with labels of pods of
// other namespaces are not seen. What is seen is evaluated at once, and followed no further; the
// result needs no Close.
//
// Errors: that of ctx.
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
			if ctx.Err() == nil && (foreign || !sub.Foreign(source)) {
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

// sinceOf is when one of some groups last changed; without any, when somebody first asked.
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

// Limited reports whether it is a part of a job.
func (f *Followed) Limited() bool { return f.within != nil }

// in calls each with the groups of the objects of a namespace, "" for those without.
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
