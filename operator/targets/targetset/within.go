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

// within is a part of a job: the groups that were visible at the time of the request and still are. Their labels are
// read again when they are needed, because those of a large job do not fit into memory together.
type within struct {
	of      *Followed
	foreign bool
	keys    map[Key]struct{}
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
	out := &Followed{job: f.job, sds: f.sds, subs: f.subs, gaps: f.gaps, set: newSet(f.job), within: &within{f, foreign, map[Key]struct{}{}}}
	dropper := f.job.Dropper()
	for i, sub := range f.subs {
		hidden := func(source string) bool { return ctx.Err() != nil || f.Evicted() || !foreign && sub.Foreign(source) }
		drops := func(source string, o targets.Outline) bool {
			if hidden(source) {
				return true
			}
			step := dropper.Step(o)
			if step >= 0 {
				out.within.keys[Key{i, source}] = struct{}{}
				out.set.drop(Key{i, source}, drops{int32(step), int32(o.Targets)})
			}
			return step >= 0
		}
		sub.Read(scopes[i].All, scopes[i].Namespaces, dropper.Names(), drops, func(source string, group *targetgroup.Group) {
			if group != nil && !hidden(source) {
				out.within.keys[Key{i, source}] = struct{}{}
				out.set.Put(Key{i, source}, group)
			}
		})
	}
	out.seen.Store(&countsCopy{out.set.Counts(), f.sinceOf(out.within.keys)})
	return out, ctx.Err()
}

// sinceOf returns the time of the last change in a set of groups, apart from those of which one step drops all
// targets; if it is empty, the time when following began.
func (f *Followed) sinceOf(keys map[Key]struct{}) (out time.Time) {
	f.reading.Lock()
	defer f.reading.Unlock()
	out = f.begun
	for key := range keys {
		if p := f.set.parts[key]; p != nil && p.since.After(out) {
			out = p.since
		}
	}
	return out
}

// Limited reports whether it is restricted to a part of the job.
func (f *Followed) Limited() bool { return f.within != nil }

// group returns a visible group; nil if it does not exist, or has labels of pods in other namespaces since.
func (w *within) group(key Key) *targetgroup.Group {
	if _, visible := w.keys[key]; !visible {
		return nil
	}
	group := w.of.group(key)
	if !w.foreign && w.of.Foreign(key) {
		return nil
	}
	return group
}

// in calls each with the groups of the objects of a namespace, "" for cluster-scoped objects.
func (w *within) in(namespace string, has func(*targetgroup.Group) bool, each func(Key)) {
	for key := range w.keys {
		_, object, _ := strings.Cut(key.Source, "/")
		of, _, namespaced := strings.Cut(object, "/")
		if !namespaced {
			of = ""
		}
		if of == namespace {
			w.ask(key, has, each)
		}
	}
}

func (w *within) each(has func(*targetgroup.Group) bool, each func(Key)) {
	for key := range w.keys {
		w.ask(key, has, each)
	}
}

// ask calls each with the key of a visible group that has selects.
func (w *within) ask(key Key, has func(*targetgroup.Group) bool, each func(Key)) {
	if group := w.group(key); group != nil && has(group) {
		each(key)
	}
}
