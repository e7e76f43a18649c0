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

// held counts the bytes that reconciliations of all kinds cache for the next ones. Above the limit,
// the namespaces that hold most lose the cached results of their largest workloads first; these are
// recompiled each time.
type held struct {
	mu     sync.Mutex
	ledger share.Ledger[holder]
}

// holder is a workload.
type holder struct {
	*Controller
	types.NamespacedName
}

// set records the bytes that a workload holds and returns the workloads that must drop their results.
func (h *held) set(who holder, bytes int) []holder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ledger.Set(who, share.Object{Namespace: who.Namespace, Name: who.kind.Kind + "/" + who.Name, Bytes: bytes})
}

// keepWithin makes workloads drop compiled results while the limit is exceeded. It must be called
// at the end of the workload's reconciliation.
func (c *Controller) keepWithin(log *slog.Logger, key types.NamespacedName, state *memory, began time.Time) {
	me, now := holder{c, key}, state.gatherer.Held()
	for _, each := range c.sources.held.set(me, now) {
		if each == me {
			if !state.logged {
				state.logged = true
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

// afreshPause is the pause after a full recompilation, as a multiple of its duration.
const afreshPause = 10

// paceCompiling delays the next reconciliation, which must recompile everything.
func (c *Controller) paceCompiling(state *memory, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state.pace.rest = time.Now().Add(min(afreshPause*took, paceMost))
}

// drop drops the compiled results of a workload unless it is being reconciled; keepWithin then
// decides at the end of that reconciliation.
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
