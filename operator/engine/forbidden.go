package engine

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// forbiddenLook is the pause between reconciliations of a workload that selects a forbidden kind.
const forbiddenLook = time.Minute

// unreadable returns an error if a workload selects a kind that is installed but forbidden: it
// keeps its last configuration, as it would otherwise lose all its objects.
func (c *Controller) unreadable(w v1.Workload) error {
	for s := range c.selecting(w) {
		if reason := c.sources.forbidden(s.Row); reason != "" {
			return &WaitError{
				For: forbiddenLook, Condition: reasonForbidden,
				Reason: fmt.Sprintf("%ss cannot be read, so nothing is changed until they can: %s", s.Kind, reason),
			}
		}
	}
	return nil
}

// unseen returns an error if objects of a kind that a workload selects may not be read any more: what was read last is
// written, and changes are not seen.
func (c *Controller) unseen(w v1.Workload) error {
	for s, rule := range c.selecting(w) {
		refused := c.sources.refused(s.Row)
		for _, namespace := range slices.Sorted(maps.Keys(refused)) {
			if c.covers(rule, namespace) {
				return &WaitError{
					For: forbiddenLook, Condition: reasonForbidden,
					Reason: fmt.Sprintf("%ss cannot be read any more, so their changes have no effect: %v", s.Kind, cause(refused[namespace])),
				}
			}
		}
	}
	return nil
}

// selecting returns the kinds from which a workload selects objects, with its rules. Kinds with an invalid selector are left
// out, because they are reported elsewhere.
func (c *Controller) selecting(w v1.Workload) iter.Seq2[Selects, selection.Rule] {
	return func(yield func(Selects, selection.Rule) bool) {
		for _, s := range c.kind.Selects {
			if rule, err := s.rule(w); err == nil && !rule.Empty() && !yield(s, rule) {
				return
			}
		}
	}
}

// covers reports whether a rule selects from a namespace, or from any if it is empty.
func (c *Controller) covers(rule selection.Rule, namespace string) bool {
	if namespace == "" {
		return true
	}
	labels, known := c.sources.namespaceLabels(namespace)
	return (known || rule.OwnNamespaceOnly()) && rule.Namespace(namespace, labels)
}

// cause returns the innermost error.
func cause(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// refused returns the namespaces, "" for all, in which objects of a kind may not be read any more, and the refusals.
func (s *Sources) refused(row *catalog.Row) map[string]error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if store := s.configs[row.Kind]; store != nil {
		return store.Refused()
	}
	return nil
}

// wakeRefused reconciles the workloads that select a kind if the namespaces in which it may not be read have changed. last
// holds the namespaces of each kind in the previous call, and is updated.
func (c *Controller) wakeRefused(last map[*catalog.Row][]string) {
	for _, s := range c.kind.Selects {
		now := slices.Sorted(maps.Keys(c.sources.refused(s.Row)))
		if !slices.Equal(now, last[s.Row]) {
			last[s.Row] = now
			c.readable(s.Row)
		}
	}
}

// readable reconciles the workloads that select a kind that has become readable, including those
// that select none of its objects: they may have waited for it.
func (c *Controller) readable(row *catalog.Row) {
	by := c.kind.SelectsBy(row.Kind)
	if by.Row == nil {
		return
	}
	for w := range c.managed() {
		if rule, err := by.rule(w); err == nil && !rule.Empty() {
			c.loop.enqueue(catalog.KeyOf(w))
		}
	}
}
