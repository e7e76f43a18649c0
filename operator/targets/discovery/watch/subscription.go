package watch

import (
	"fmt"
	"slices"
	"sync"
	"time"

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
	changed map[change]struct{}
}

// change is a group that has changed since it was taken.
type change struct {
	lease             int
	namespace, source string
}

func (s *Subscription) mark(c change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.changed[c] = struct{}{}
	}
}

// Take calls each for the groups that changed since the last call, in random order; the first call
// returns all groups. A nil group was deleted or lost its last target. Sources are unique in the
// subscription.
func (s *Subscription) Take(each func(source string, group *targetgroup.Group)) {
	s.mu.Lock()
	changed := s.changed
	s.changed = map[change]struct{}{}
	s.mu.Unlock()
	for c := range changed {
		// Concurrent changes are marked again.
		each(c.source, s.leases[c.lease].view.read(c, s.confined))
	}
}

// Pending returns the number of groups that changed since the last call of Take.
func (s *Subscription) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.changed)
}

// Each calls a function with all groups, one at a time, in random order.
func (s *Subscription) Each(each func(*targetgroup.Group)) {
	for i, l := range s.leases {
		for _, c := range l.view.all(i, s.scopes[i]) {
			if group := l.view.read(c, s.confined); group != nil {
				each(group)
			}
		}
	}
}

// Group returns a group by its source; nil if it does not exist.
func (s *Subscription) Group(source string) *targetgroup.Group {
	namespace := namespaceOf(source)
	for i, l := range s.leases {
		if slices.Contains(s.scopes[i], "") || slices.Contains(s.scopes[i], namespace) {
			if group := l.view.read(change{i, namespace, source}, s.confined); group != nil {
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
		if !slices.Contains(s.scopes[i], "") && !slices.Contains(s.scopes[i], namespace) {
			continue
		}
		for _, c := range l.view.of(i, namespace) {
			if group := l.view.read(c, s.confined); group != nil {
				each(c.source, group)
			}
		}
	}
}

// Filling reports whether more groups may follow when the initial lists are complete. It does not
// wait for failing lists, see [Subscription.Gaps].
func (s *Subscription) Filling() bool {
	return slices.ContainsFunc(s.leases, func(l *lease) bool {
		return !l.view.isSynced() && !slices.ContainsFunc(l.view.sources, (*source).failing)
	})
}

// Gaps returns why targets are unknown: a list that has not succeeded yet is not treated as empty.
// No gaps means that all groups are known.
func (s *Subscription) Gaps() []targets.Gap {
	out := s.gaps[:len(s.gaps):len(s.gaps)]
	for _, l := range s.leases {
		if l.view.isSynced() {
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
	s.closed, s.changed = true, nil
	s.mu.Unlock()
	if closed {
		return
	}
	for i, l := range s.leases {
		l.view.unsubscribe(s, s.scopes[i])
		s.cluster.release(l)
	}
}
