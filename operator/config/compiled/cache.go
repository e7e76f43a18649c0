package compiled

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// ID names one version of a configuration object.
type ID struct {
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
	Generation int64
	Stub       bool // only its metadata is in memory
}

// IDOf is the version of an object as the cache has it.
func IDOf(kind string, o metav1.Object) ID {
	return ID{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Generation: o.GetGeneration(), Stub: capacity.IsStub(o)}
}

// Owner names an owner whose settings fragments are compiled under.
type Owner struct{ Kind, Namespace, Name string }

type place struct{ kind, namespace, name string }

func (id ID) place() place { return place{id.Kind, id.Namespace, id.Name} }

// Cache keeps fragments of type F. It is safe for concurrent use.
type Cache[F any] struct {
	// Deps returns what a fragment depends on; nil when none depends on anything.
	Deps func(F) []assets.Dependency

	mu      sync.Mutex
	buckets map[string]*bucket[F]
	owners  map[Owner]string // → key of its bucket
	compile uint64
	charge  Charge // nil: nobody counts
}

// Charge takes what an object compiles to, as [capacity.Capacity.Charge] does.
type Charge func(by any, kind string, name types.NamespacedName, bytes int, files map[string]int)

// ChargeTo has it counted what each object compiles to: the most of what it does under the
// settings of different owners, who are not in the hands of the object.
func (c *Cache[F]) ChargeTo(charge Charge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charge = charge
}

// bucket holds the fragments of owners with equal settings.
type bucket[F any] struct {
	mu      sync.Mutex
	entries map[place]*entry[F]
	bytes   int // of the fragments, without files
}

type entry[F any] struct {
	mu    sync.Mutex
	id    ID
	set   bool
	value F

	weight weight // guarded by the mutex of the bucket
}

// Use says which settings an owner has now. Fragments of settings that no owner
// has any more are dropped.
func (c *Cache[F]) Use(owner Owner, settings string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners == nil {
		c.owners, c.buckets = map[Owner]string{}, map[string]*bucket[F]{}
	}
	before, had := c.owners[owner]
	if had && before == settings {
		return
	}
	c.owners[owner] = settings
	if c.buckets[settings] == nil {
		c.buckets[settings] = &bucket[F]{entries: map[place]*entry[F]{}}
	}
	if had {
		c.drop(before)
	}
}

// Release forgets an owner.
func (c *Cache[F]) Release(owner Owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, had := c.owners[owner]; had {
		delete(c.owners, owner)
		c.drop(before)
	}
}

func (c *Cache[F]) drop(settings string) {
	for _, used := range c.owners {
		if used == settings {
			return
		}
	}
	dropped := c.buckets[settings]
	delete(c.buckets, settings)
	if dropped == nil || c.charge == nil {
		return
	}
	dropped.mu.Lock()
	defer dropped.mu.Unlock()
	for at := range dropped.entries {
		c.recount(at)
	}
}

// weigh counts a fragment.
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

// Held returns how many bytes the fragments of an owner take: its part of them, when other owners
// have the same settings.
func (c *Cache[F]) Held(owner Owner) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	settings, is := c.owners[owner]
	if !is {
		return 0
	}
	sharing := 0
	for _, used := range c.owners {
		if used == settings {
			sharing++
		}
	}
	b := c.buckets[settings]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes / sharing
}

// recount charges what an object compiles to. c.mu must be held.
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

// Get returns the fragment of an object under the settings of an owner that
// called Use, compiling it when there is none that still stands. current reports
// whether dependencies have not changed since; fragments without any need none.
// compile's second result says whether the fragment may be kept. Concurrent calls
// for one object compile it once.
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

// Compilations is how many fragments were compiled since the start.
func (c *Cache[F]) Compilations() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compile
}

// Len is the number of fragments that are kept.
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
