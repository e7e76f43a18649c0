package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// memory is the state of one workload between reconciliations. At most one reconciliation runs per
// workload; fields that event handlers access are guarded by Controller.mu.
type memory struct {
	running  sync.Mutex // held during a reconciliation
	gatherer Gatherer   // read while running is held, replaced with Controller.mu while no reconciliation runs
	checks   checkCache
	reported map[string]reason // last reported rejection, by rejected object
	renewals renewals
	reads    assets.Pace // of what selected objects refer to
	logged   bool        // whether it was logged that compiled results are not kept
	ending   time.Time   // when an object that runs its pods was first seen in deletion; zero if none is
	headless string      // last logged fault of its governing Service
	held     types.UID   // UID of the workload that last got the finalizer, until the cache shows it
	// reached counts what this reconciliation has read, and then the objects that are as they should be.
	reached atomic.Int64

	references map[assets.Ref]bool // guarded
	written    map[assets.Ref]bool // guarded: objects that the last plan writes or was made from
	named      map[lookup]found    // guarded: unwatched objects that it names
	delivered  delivered           // guarded
	awaits     bool                // guarded: the next reconciliation can do more once pods have changed
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

// rest drops the compiled results of a workload's last reconciliation, which are not needed for now
// and may hold deleted objects. No reconciliation of the workload may be running.
func (c *Controller) rest(key types.NamespacedName) {
	c.sources.held.set(holder{c, key}, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.memory[key]; s != nil {
		s.gatherer.Close()
		s.gatherer = c.kind.Open(key)
	}
}

// forget drops all state of a workload that is gone.
func (c *Controller) forget(key types.NamespacedName) {
	c.index.Remove(key)
	c.counts.remove(key)
	c.timeline.Forget(key)
	c.sources.held.set(holder{c, key}, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.memory[key]; s != nil {
		s.gatherer.Close()
	} else if c.kind.Ahead != nil {
		c.kind.Open(key).Close() // it was compiled ahead but never reconciled
	}
	delete(c.memory, key)
}

// awaitPods sets whether changes of its pods wake a workload.
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
