package engine

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// handover is a workload for which this operator is no longer responsible: its annotation names another one, or its
// labels match no longer. It is removed from the statuses and loses the finalizer once, as another operator may not know
// of them. One that does adds both again when it sees that the finalizer is gone, which is removed last.
type handover struct {
	w v1.Workload // its last version
	// pending are the objects that may still have it in their status; nil: all. Those that had it no longer are not
	// among them, whatever another operator writes.
	pending map[catalog.Ref]bool
}

// handsOver reports whether this operator ceases to be responsible for a workload in whose statuses it may be.
func (c *Controller) handsOver(e informer.Event[catalog.Object]) bool {
	if c.bindings == nil || e.Action == "add" || !c.manages(e.Before) || !slices.Contains(e.Object().GetFinalizers(), statusFinalizer) {
		return false
	}
	if e.Action == "delete" {
		// Otherwise it is gone, and was released. Here it may be gone without, if another client has removed its finalizers.
		return e.Before.GetDeletionTimestamp() == nil
	}
	return !c.manages(e.After) && e.Before.GetUID() == e.After.GetUID()
}

// losesFinalizer reports whether another client removes the finalizer from a workload, as the operator does that hands it
// over.
func (c *Controller) losesFinalizer(e informer.Event[catalog.Object]) bool {
	return c.bindings != nil && e.After.GetDeletionTimestamp() == nil &&
		slices.Contains(e.Before.GetFinalizers(), statusFinalizer) && !slices.Contains(e.After.GetFinalizers(), statusFinalizer)
}

// handOver queues the removal of a workload from the statuses. A standby leaves that to the leader: when it leads, the
// other operator has long been responsible.
func (q *bindingsQueue) handOver(key types.NamespacedName, w v1.Workload) {
	if !q.running.Load() {
		return
	}
	q.mu.Lock()
	q.handovers[key] = &handover{w: w}
	q.mu.Unlock()
	q.queue.Add(key)
}

// handed returns the handover of a workload, which ends if the operator is responsible for it again; nil if there is none.
func (q *bindingsQueue) handed(key types.NamespacedName, managed bool) *handover {
	q.mu.Lock()
	defer q.mu.Unlock()
	if managed {
		delete(q.handovers, key)
	}
	return q.handovers[key]
}

// still keeps the changes of a workload that have to be made, which are all unless it is handed over.
func (q *bindingsQueue) still(key types.NamespacedName, changes []bindings.Change) []bindings.Change {
	q.mu.Lock()
	defer q.mu.Unlock()
	h := q.handovers[key]
	if h == nil {
		return changes
	}
	if h.pending != nil {
		changes = slices.DeleteFunc(changes, func(c bindings.Change) bool { return !h.pending[refOf(c.Object)] })
	}
	h.pending = make(map[catalog.Ref]bool, len(changes))
	for _, c := range changes {
		h.pending[refOf(c.Object)] = true
	}
	return changes
}

// endHandover removes the finalizer of a workload that is handed over.
func (c *Controller) endHandover(ctx context.Context, key types.NamespacedName, h *handover) error {
	w := h.w
	if now, ok := c.stores.workloads.get(key.Namespace, key.Name); ok {
		w = now
	}
	if w.GetUID() == h.w.GetUID() {
		err := c.crds.RemoveFinalizer(ctx, w, statusFinalizer)
		if errors.Is(err, apply.ErrOutdated) && w != h.w {
			c.bindings.queue.AddAfter(key, staleLook) // another client changed the finalizers
			return nil
		}
		if err != nil {
			return err
		}
	}
	c.bindings.mu.Lock()
	defer c.bindings.mu.Unlock()
	if c.bindings.handovers[key] == h {
		delete(c.bindings.handovers, key)
	}
	return nil
}
