package watch

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Subscription provides the groups of one discovery of a job. It is safe for concurrent use.
type Subscription struct {
	cluster  *Cluster
	leases   []*lease
	scopes   [][]string // of each lease: the namespaces to which the subscription is limited
	confined bool       // to namespaces
	gaps     []targets.Gap
	wake     func()

	mu      sync.Mutex
	closed  bool
	all     map[int]bool        // leases of which all groups have changed
	changed map[change]struct{} // groups of other leases
}

// change is a group that has changed since it was taken.
type change struct {
	lease  int
	source string
}

func (s *Subscription) mark(c change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.all[c.lease] {
		s.changed[c] = struct{}{}
	}
}

// markAll marks all groups of a lease.
func (s *Subscription) markAll(lease int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.all[lease] = true
	}
}

// unmark returns the marked groups and marks none.
func (s *Subscription) unmark() (all map[int]bool, changed map[change]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, changed = s.all, s.changed
	s.all, s.changed = map[int]bool{}, map[change]struct{}{}
	return all, changed
}

// Take calls each for the groups that changed since the last call, in random order, except those for which drops returns
// true. The first call is about all groups. A nil group was deleted or lost its last target. Sources are unique in the
// subscription. drops gets the labels of the group with these names, which are only valid during the call.
func (s *Subscription) Take(names []model.LabelName, drops func(source string, o targets.Outline) bool, each func(source string, group *targetgroup.Group)) {
	all, changed := s.unmark() // concurrent changes are marked again
	take := s.unless(names, drops, each)
	for lease := range all {
		for _, source := range s.leases[lease].view.all(s.scopes[lease]) {
			take(change{lease, source})
		}
	}
	for c := range changed {
		take(c)
	}
}

// unless returns a function that calls each for a group, unless drops returns true for some of its labels.
func (s *Subscription) unless(names []model.LabelName, drops func(source string, o targets.Outline) bool, each func(source string, group *targetgroup.Group)) func(change) {
	var o targets.Outline
	return func(c change) {
		view := s.leases[c.lease].view
		if !view.outline(c.source, s.confined, names, &o) || !drops(c.source, o) {
			each(c.source, view.read(c.source, s.confined))
		}
	}
}

// Read is like [Subscription.Take] for all groups, or those of the objects of some namespaces, whether they
// changed or not.
func (s *Subscription) Read(all bool, namespaces []string, names []model.LabelName, drops func(source string, o targets.Outline) bool, each func(source string, group *targetgroup.Group)) {
	read := s.unless(names, drops, each)
	for i, l := range s.leases {
		var sources []string
		if all {
			sources = l.view.all(s.scopes[i])
		}
		for _, namespace := range namespaces {
			if !all && s.covers(i, namespace) {
				sources = append(sources, l.view.of(namespace)...)
			}
		}
		for _, source := range sources {
			read(change{i, source})
		}
	}
}

// covers reports whether a lease has the objects of a namespace.
func (s *Subscription) covers(lease int, namespace string) bool {
	return slices.Contains(s.scopes[lease], "") || slices.Contains(s.scopes[lease], namespace)
}

// Pending returns the number of groups that changed since the last call of Take.
func (s *Subscription) Pending() int {
	s.mu.Lock()
	n, all := len(s.changed), slices.Collect(maps.Keys(s.all))
	s.mu.Unlock() // marks are made with the mutex of the view held
	for _, lease := range all {
		n += s.leases[lease].view.count(s.scopes[lease])
	}
	return n
}

// Each calls a function with all groups, one at a time, in random order.
func (s *Subscription) Each(each func(*targetgroup.Group)) {
	for i, l := range s.leases {
		for _, source := range l.view.all(s.scopes[i]) {
			if group := l.view.read(source, s.confined); group != nil {
				each(group)
			}
		}
	}
}

// Group returns a group by its source; nil if it does not exist.
func (s *Subscription) Group(source string) *targetgroup.Group {
	namespace := namespaceOf(source)
	for i, l := range s.leases {
		if s.covers(i, namespace) {
			if group := l.view.read(source, s.confined); group != nil {
				return group
			}
		}
	}
	return nil
}

// In calls a function with the groups of a namespace's objects, in random order; "" selects
// cluster-scoped objects.
func (s *Subscription) In(namespace string, each func(source string, group *targetgroup.Group)) {
	for i, l := range s.leases {
		if !s.covers(i, namespace) {
			continue
		}
		for _, source := range l.view.of(namespace) {
			if group := l.view.read(source, s.confined); group != nil {
				each(source, group)
			}
		}
	}
}

// Filling reports whether more groups may follow when the initial lists are complete. It does not
// wait for failing lists, see [Subscription.Gaps].
func (s *Subscription) Filling() bool {
	return slices.ContainsFunc(s.leases, func(l *lease) bool {
		return !l.view.synced.Load() && !slices.ContainsFunc(l.view.sources, (*source).failing)
	})
}

// Gaps returns why targets are unknown: a list that has not succeeded yet is not treated as empty.
// No gaps means that all groups are known.
func (s *Subscription) Gaps() []targets.Gap {
	out := s.gaps[:len(s.gaps):len(s.gaps)]
	for _, l := range s.leases {
		if l.view.synced.Load() {
			continue
		}
		before := len(out)
		for _, source := range l.view.sources {
			if source.informer.HasSynced() {
				continue
			}
			if forbidden, message := source.failure(); message != "" {
				out = append(out, targets.Gap{State: targets.Unknown, Refused: forbidden,
					Message: fmt.Sprintf("targets of role %s are not known: %s", l.view.role, message)})
			}
		}
		if len(out) == before {
			out = append(out, targets.Gap{State: targets.Unknown, Message: fmt.Sprintf("targets of role %s are not known yet: the initial list is not complete", l.view.role)})
		}
	}
	return out
}

// Outdated returns the reads that fail now but succeeded before. Their groups do not change.
func (s *Subscription) Outdated() (out []targets.Gap) {
	for _, l := range s.leases {
		for _, source := range l.view.sources {
			if forbidden, message := source.failure(); message != "" && source.informer.HasSynced() {
				out = append(out, targets.Gap{State: targets.Unknown, Refused: forbidden,
					Message: fmt.Sprintf("targets of role %s may be out of date: %s", l.view.role, message)})
			}
		}
	}
	return out
}

// Relisted returns the time of the last list after the first one, zero if there was none. Objects that
// disappear soon after it may not have been deleted.
func (s *Subscription) Relisted() (last time.Time) {
	for _, l := range s.leases {
		for _, source := range l.view.sources {
			source.mu.Lock()
			if source.relisted.After(last) {
				last = source.relisted
			}
			source.mu.Unlock()
		}
	}
	return last
}

// Close ends the subscription. A second call is a no-op.
func (s *Subscription) Close() {
	s.mu.Lock()
	closed := s.closed
	s.closed, s.all, s.changed = true, nil, nil
	s.mu.Unlock()
	if closed {
		return
	}
	for i, l := range s.leases {
		l.view.unsubscribe(s, s.scopes[i])
		s.cluster.release(l)
	}
}
