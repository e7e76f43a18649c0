package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// held counts what reconciliations keep for the next ones, of the workloads of all kinds. When that
// is too much, the namespaces that hold most lose that of their largest workloads first: they are
// compiled afresh each time.
type held struct {
	mu     sync.Mutex
	ledger share.Ledger[holder]
}

// holder is a workload.
type holder struct {
	*Controller
	types.NamespacedName
}

// set notes what a workload holds, and returns the workloads that are to drop it.
func (h *held) set(who holder, bytes int) []holder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ledger.Set(who, share.Object{Namespace: who.Namespace, Name: who.kind.Kind + "/" + who.Name, Bytes: bytes})
}

// keepWithin lets workloads drop what was compiled for them while there is too much of that. The
// reconciliation of the workload must be over but for this.
func (c *Controller) keepWithin(log *slog.Logger, key types.NamespacedName, state *memory, began time.Time) {
	me, now := holder{c, key}, state.gatherer.Held()
	for _, each := range c.sources.held.set(me, now) {
		if each == me {
			if !state.told {
				state.told = true
				log.Info("what was compiled for this workload is not kept", "reason", fmt.Sprintf("it takes %d KiB, all workloads may keep %d KiB, and namespace %q is one of those that hold most",
					now>>10, c.sources.held.ledger.Room>>10, key.Namespace))
			}
			c.rest(key)
			c.paceCompiling(state, time.Since(began))
			continue
		}
		each.drop()
	}
}

// afreshPause is the pause after a reconciliation that compiled everything, in times that it took.
const afreshPause = 10

// paceCompiling has the next reconciliation wait that begins without what this one compiled.
func (c *Controller) paceCompiling(state *memory, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state.pace.rest = time.Now().Add(min(afreshPause*took, paceMost))
}

// drop drops what was compiled for a workload, unless it is being reconciled: then it is decided at the end.
func (h holder) drop() {
	h.mu.Lock()
	state := h.memory[h.NamespacedName]
	h.mu.Unlock()
	if state == nil || !state.running.TryLock() {
		return
	}
	defer state.running.Unlock()
	h.rest(h.NamespacedName)
}

// chargeSelection charges a workload for the objects that it selects.
func (c *Controller) chargeSelection(key types.NamespacedName, selected map[string]Selection) {
	n := 0
	for _, of := range selected {
		n += of.Selected
	}
	c.sources.stored.Charge(c, c.kind.Kind, key, n*budget.SelectionBytes, nil)
}
