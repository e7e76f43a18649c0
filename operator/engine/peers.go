package engine

import (
	"iter"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// The workloads of a namespace share a Service, so that each of them depends on all others. What one contributes is
// computed once while it is unchanged, and the Service once while all of them are.

// serviceUse is the contribution of one version of a workload to the shared Service.
type serviceUse struct {
	of      v1.Workload // in the cache
	foreign bool
	shared  func() bool // whether it uses the Service

	once sync.Once
	peer workload.Peer
}

// useOf returns the contribution of a workload.
func (c *Controller) useOf(w v1.Workload) *serviceUse {
	return &serviceUse{of: w, foreign: !c.manages(w), shared: sync.OnceValue(func() bool { return c.kind.Shape(w).Service.Shared() })}
}

// user returns the contribution. of converts a workload of the kind.
func (u *serviceUse) user(of func(v1.Workload) workload.ServiceUser) workload.Peer {
	u.once.Do(func() { u.peer = workload.PeerOf(of(u.of), u.foreign) })
	return u.peer
}

// sharing is the shared Service of one version of the workloads in a namespace.
type sharing struct {
	version uint64 // of the store of workloads
	peers   []Peer
	uses    map[string]*serviceUse // by name
	live    apply.Settled[*corev1.Service]

	mu    sync.Mutex
	users *workload.ServiceUsers // nil: not built yet
}

// serviceUsers returns the workloads that use the Service. of converts a workload of the kind. One for which it panics
// fails the first call only.
func (s *sharing) serviceUsers(of func(v1.Workload) workload.ServiceUser) *workload.ServiceUsers {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users != nil {
		return s.users
	}
	users := make([]workload.Peer, len(s.peers))
	for i, p := range s.peers {
		users[i] = s.uses[p.GetName()].user(of)
	}
	s.users = workload.NewServiceUsers(users)
	return s.users
}

// sharings holds what the workloads of each namespace share. It is safe for concurrent use.
type sharings struct {
	mu  sync.Mutex
	all map[string]*sharing // by namespace
}

// sharing returns what the workloads of a namespace share.
func (c *Controller) sharing(namespace string) *sharing {
	c.sharings.mu.Lock()
	defer c.sharings.mu.Unlock()
	last, version := c.sharings.all[namespace], c.stores.workloads.Version()
	if last == nil {
		last = &sharing{}
	}
	if last.version == version || last.has(c.stores.workloads.SortedIn(namespace)) {
		last.version = version
		return last
	}
	next := &sharing{version: version, uses: map[string]*serviceUse{}}
	for obj := range c.stores.workloads.SortedIn(namespace) {
		w := obj.(v1.Workload)
		use := last.uses[w.GetName()]
		if use == nil || use.of != w {
			use = c.useOf(w)
		}
		next.uses[w.GetName()] = use
		next.peers = append(next.peers, Peer{Workload: w, Foreign: use.foreign})
	}
	if c.sharings.all == nil {
		c.sharings.all = map[string]*sharing{}
	}
	if c.sharings.all[namespace] = next; len(next.peers) == 0 {
		delete(c.sharings.all, namespace)
	}
	return next
}

// has reports whether these are the peers.
func (s *sharing) has(workloads iter.Seq[catalog.Object]) bool {
	n := 0
	for w := range workloads {
		if n == len(s.peers) || s.peers[n].Workload != w {
			return false
		}
		n++
	}
	return n == len(s.peers)
}

// serviceUsers returns the workloads that use the shared Service. of converts a workload of the kind.
func (l Live) serviceUsers(of func(v1.Workload) workload.ServiceUser) *workload.ServiceUsers {
	if l.sharing != nil {
		return l.sharing.serviceUsers(of)
	}
	users := make([]workload.Peer, len(l.Peers))
	for i, p := range l.Peers {
		users[i] = workload.PeerOf(of(p.Workload), p.Foreign)
	}
	return workload.NewServiceUsers(users)
}
