package engine

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// memory is what is remembered of one workload between reconciliations. Only one of
// them runs at a time per workload; fields that events read are guarded by
// Controller.mu.
type memory struct {
	running  sync.Mutex // held during a reconciliation
	gatherer Gatherer   // read while running is held, replaced with Controller.mu while no reconciliation runs
	checks   checkCache
	reported map[string]reason // by rejected object: what was told of it
	told     bool              // that what was compiled is not kept
	held     types.UID         // the workload that got the finalizer last, until the cache shows it

	references map[assets.Ref]bool // guarded
	written    map[assets.Ref]bool // guarded: what its last plan writes
	named      map[lookup]found    // guarded: what it names beside the watches
	delivered  delivered           // guarded
	awaits     bool                // guarded: the next reconciliation can do more when pods have changed
	pace       pace                // guarded
	generation int64               // guarded: of the workload when its content was written
}

func (c *Controller) remembered(key types.NamespacedName) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.memory[key]
	if s == nil {
		s = &memory{reported: map[string]reason{}, gatherer: c.kind.Open(key)}
		c.memory[key] = s
	}
	return s
}

// rest drops what the last reconciliation of a workload has compiled, which it does not need for
// now: the objects of then may be gone. No reconciliation of it may be running.
func (c *Controller) rest(key types.NamespacedName) {
	c.sources.held.set(holder{c, key}, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.memory[key]; s != nil {
		s.gatherer.Close()
		s.gatherer = c.kind.Open(key)
	}
}

// forget drops everything that is remembered of a workload that is gone.
func (c *Controller) forget(key types.NamespacedName) {
	c.index.Remove(key)
	c.counts.Remove(key)
	c.sources.held.set(holder{c, key}, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.memory[key]; s != nil {
		s.gatherer.Close()
	} else if c.kind.Ahead != nil {
		c.kind.Open(key).Close() // it was compiled ahead, and never reconciled
	}
	delete(c.memory, key)
}

// awaitPods says whether changes of its pods wake a workload.
func (c *Controller) awaitPods(state *memory, awaits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state.awaits = awaits
}

// awaitsPods reports whether a workload waits for its pods to change.
func (c *Controller) awaitsPods(key types.NamespacedName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.memory[key]
	return s != nil && s.awaits
}
