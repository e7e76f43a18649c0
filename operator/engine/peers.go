package engine

import (
	"sync"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// The workloads of a namespace share a Service, so that each of them depends on all others. What one
// contributes is computed once while it is unchanged, and not once for each of the others.

// serviceUse is the contribution of one version of a workload to the shared Service.
type serviceUse struct {
	of      v1.Workload // in the cache
	foreign bool
	shared  func() bool // whether it uses the Service

	once sync.Once
	peer workload.Peer
}

// uses holds the serviceUse of the workloads in each namespace. It is safe for concurrent use.
type uses struct {
	mu  sync.Mutex
	all map[string]map[string]*serviceUse // by namespace and name
}

// useOf returns the use of a cached workload.
func (c *Controller) useOf(w v1.Workload) *serviceUse {
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	return c.currentUse(w)
}

// currentUse is useOf while uses.mu is held.
func (c *Controller) currentUse(w v1.Workload) *serviceUse {
	foreign := !c.manages(w)
	if use := c.uses.all[w.GetNamespace()][w.GetName()]; use != nil && use.of == w && use.foreign == foreign {
		return use
	}
	return &serviceUse{of: w, foreign: foreign, shared: sync.OnceValue(func() bool { return c.kind.Shape(w).Service.Shared() })}
}

// peers returns the workloads of this controller's kind in a namespace.
func (c *Controller) peers(namespace string) (out []Peer) {
	all := c.stores.workloads.in(namespace)
	current := make(map[string]*serviceUse, len(all))
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	for _, w := range all {
		use := c.currentUse(w)
		current[w.GetName()] = use
		out = append(out, Peer{Workload: w, Foreign: use.foreign, use: use})
	}
	if c.uses.all == nil {
		c.uses.all = map[string]map[string]*serviceUse{}
	}
	c.uses.all[namespace] = current
	return out
}

// dropUse removes a deleted workload.
func (c *Controller) dropUse(w v1.Workload) {
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	delete(c.uses.all[w.GetNamespace()], w.GetName())
	if len(c.uses.all[w.GetNamespace()]) == 0 {
		delete(c.uses.all, w.GetNamespace())
	}
}

// user returns the peer with the ports that it needs in the shared Service. of converts a workload of
// the kind.
func (p Peer) user(of func(v1.Workload) workload.ServiceUser) workload.Peer {
	if p.use == nil {
		return workload.PeerOf(of(p.Workload), p.Foreign)
	}
	p.use.once.Do(func() { p.use.peer = workload.PeerOf(of(p.Workload), p.Foreign) })
	return p.use.peer
}
