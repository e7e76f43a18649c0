package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// unseen returns an error if objects of a kind that a workload selects may not be read any more: what was read last is
// written, and changes are not seen.
func (c *Controller) unseen(w v1.Workload) error {
	for _, s := range c.kind.Selects {
		rule, err := s.rule(w)
		if err != nil || rule.Empty() {
			continue // an invalid selector is reported elsewhere
		}
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

// covers reports whether a rule selects from a namespace, or from any if it is empty.
func (c *Controller) covers(rule selection.Rule, namespace string) bool {
	if own, only := rule.Own(); namespace == "" || only {
		return namespace == "" || namespace == own
	}
	labels, known := c.sources.namespaceLabels(namespace)
	return known && rule.Namespace(namespace, labels)
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
// are those of the last call, by kind.
func (c *Controller) wakeRefused(last map[*catalog.Row][]string) {
	for _, s := range c.kind.Selects {
		now := slices.Sorted(maps.Keys(c.sources.refused(s.Row)))
		if !slices.Equal(now, last[s.Row]) {
			last[s.Row] = now
			c.readable(s.Row)
		}
	}
}
