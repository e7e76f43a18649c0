package fragments

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// ID identifies one version of a configuration object.
type ID struct {
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
	Generation int64
	Stub       bool // only its metadata is in memory
}

// IDOf returns the ID of a cached object.
func IDOf(kind string, o metav1.Object) ID {
	return ID{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Generation: o.GetGeneration(), Stub: capacity.IsStub(o)}
}

// Workload identifies a workload under whose settings fragments are compiled.
type Workload struct{ Kind, Namespace, Name string }

type place struct{ kind, namespace, name string }

func (id ID) place() place { return place{id.Kind, id.Namespace, id.Name} }

// Cache holds compiled fragments of type F. It is safe for concurrent use.
type Cache[F any] struct {
	// Deps returns the dependencies of a fragment. If nil, fragments have no dependencies.
	Deps func(F) []assets.Dependency

	mu        sync.Mutex
	buckets   map[string]*bucket[F]
	workloads map[Workload]string // to the key of its bucket
	compile   uint64
	charge    Charge // nil: not counted
}

// Charge records the compiled size of an object, see [capacity.Capacity.Charge].
type Charge func(by any, kind string, name types.NamespacedName, bytes int, files map[string]int)

// ChargeTo sets the function to which the compiled size of each object is charged. An object is
// charged for its largest fragment only, because it does not control the settings of the
// workloads that select it.
func (c *Cache[F]) ChargeTo(charge Charge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charge = charge
}

// bucket holds the fragments of workloads with equal settings.
type bucket[F any] struct {
	mu      sync.Mutex
	entries map[place]*entry[F]
	bytes   int // total of the fragments, without files

	workloads int // with these settings; guarded by the cache's mu
}

type entry[F any] struct {
	mu    sync.Mutex
	id    ID
	set   bool
	value F

	weight weight // guarded by the bucket's mu
}

// Use sets the current settings of a workload. Fragments of settings that no workload uses are dropped.
func (c *Cache[F]) Use(w Workload, settings string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workloads == nil {
		c.workloads, c.buckets = map[Workload]string{}, map[string]*bucket[F]{}
	}
	before, had := c.workloads[w]
	if had && before == settings {
		return
	}
	c.workloads[w] = settings
	if c.buckets[settings] == nil {
		c.buckets[settings] = &bucket[F]{entries: map[place]*entry[F]{}}
	}
	c.buckets[settings].workloads++
	if had {
		c.drop(before)
	}
}

// Release removes a workload.
func (c *Cache[F]) Release(w Workload) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, had := c.workloads[w]; had {
		delete(c.workloads, w)
		c.drop(before)
	}
}

// drop removes a workload from a bucket. c.mu must be held.
func (c *Cache[F]) drop(settings string) {
	dropped := c.buckets[settings]
	if dropped.workloads--; dropped.workloads > 0 {
		return
	}
	delete(c.buckets, settings)
	if c.charge == nil {
		return
	}
	dropped.mu.Lock()
	defer dropped.mu.Unlock()
	for at := range dropped.entries {
		c.recount(at)
	}
}

// weigh records the weight of a fragment and charges it.
func (c *Cache[F]) weigh(settings string, at place, w weight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[settings]
	if b == nil {
		return
	}
	b.mu.Lock()
	e := b.entries[at]
	if e != nil {
		b.bytes += w.bytes - e.weight.bytes
		e.weight = w
	}
	b.mu.Unlock()
	if e != nil && c.charge != nil {
		c.recount(at)
	}
}

// Held returns the size in bytes of the fragments of a workload. If several workloads have the same
// settings, it is the workload's share.
func (c *Cache[F]) Held(w Workload) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings, is := c.workloads[w]
	if !is {
		return 0
	}
	b := c.buckets[settings]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes / b.workloads
}

// recount charges the object for its largest fragment. c.mu must be held.
func (c *Cache[F]) recount(at place) {
	var most weight
	for _, b := range c.buckets {
		b.mu.Lock()
		if e := b.entries[at]; e != nil && e.weight.bytes >= most.bytes {
			most = e.weight
		}
		b.mu.Unlock()
	}
	c.charge(c, at.kind, types.NamespacedName{Namespace: at.namespace, Name: at.name}, most.bytes, most.files)
}

// Forget drops the fragments of a deleted object.
func (c *Cache[F]) Forget(kind, namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.buckets {
		b.mu.Lock()
		at := place{kind, namespace, name}
		if e := b.entries[at]; e != nil {
			b.bytes -= e.weight.bytes
			delete(b.entries, at)
		}
		b.mu.Unlock()
	}
}

// Get returns the fragment of an object under the settings of a workload that called Use. If no
// cached fragment is current, it compiles one. current reports whether the dependencies are
// unchanged; it is not called for fragments without dependencies. The second result of compile
// reports whether the fragment may be cached. Concurrent calls for the same object compile it once.
func (c *Cache[F]) Get(settings string, id ID, current func([]assets.Dependency) bool, compile func() (F, bool)) F {
	e := c.entry(settings, id)
	if e == nil {
		f, _ := compile()
		return f
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set && e.id == id {
		if c.Deps == nil {
			return e.value
		}
		if deps := c.Deps(e.value); len(deps) == 0 || current(deps) {
			return e.value
		}
	}
	f, keep := compile()
	e.id, e.value, e.set = id, f, keep
	c.weigh(settings, id.place(), weightOf(f))
	c.mu.Lock()
	c.compile++
	c.mu.Unlock()
	return f
}

func (c *Cache[F]) entry(settings string, id ID) *entry[F] {
	c.mu.Lock()
	b := c.buckets[settings]
	c.mu.Unlock()
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[id.place()]
	if e == nil {
		e = &entry[F]{}
		b.entries[id.place()] = e
	}
	return e
}

// Compilations returns the number of fragments compiled since the start.
func (c *Cache[F]) Compilations() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compile
}

// Len returns the number of cached fragments.
func (c *Cache[F]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, b := range c.buckets {
		b.mu.Lock()
		n += len(b.entries)
		b.mu.Unlock()
	}
	return n
}
