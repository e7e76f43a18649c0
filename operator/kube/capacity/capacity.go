package capacity

import (
	"container/heap"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// Object is the type constraint of cached objects.
type Object = interface {
	metav1.Object
	runtime.Object
}

const (
	// settlePause is the delay from the first change to the next division among all objects.
	settlePause = 2 * time.Second
	// reads is the maximum number of concurrent reads of stubs of all kinds.
	reads = 2
	// lastRetry is the maximum pause between reads of a stub that did not remain whole.
	lastRetry = 5 * time.Minute
)

// Capacity limits the memory of the objects in all caches together.
type Capacity struct {
	room  int
	pause time.Duration
	slots chan struct{} // semaphore for reads

	mu         sync.Mutex
	held       int // size of the whole objects in bytes
	stubs      int
	statuses   int // size of the statuses of the stubs in bytes
	entries    map[place]*entry
	namespaces map[string]*namespace
	settling   *time.Timer // the next division; nil if none is pending
}

// place identifies an object.
type place struct {
	kind string
	types.NamespacedName
}

// entry is an existing object.
type entry struct {
	place
	cache   *Cache
	object  Object   // cached form: whole, or a stub
	charges []charge // sizes of its compilation results
	whole   bool
	status  int // bytes of the status of a stub
	index   int // in the heap of its namespace; valid while the object is whole

	// The fields below are about the whole object. They do not change for a stub.
	size  int            // bytes including compilation results or guess
	guess int            // estimated bytes of compilation results; 0 once compiled
	files map[string]int // bytes of files that other objects of the namespace may share, by name

	relist   uint64    // number of the last list with the object
	attempts int       // number of reads
	after    time.Time // earliest time of the next read
}

// New returns a capacity of room bytes.
func New(room int64) *Capacity {
	return &Capacity{
		room: int(room), pause: settlePause, slots: make(chan struct{}, reads),
		entries: map[place]*entry{}, namespaces: map[string]*namespace{},
	}
}

// Room returns the capacity in bytes.
func (c *Capacity) Room() int { return c.room }

// Held returns the size of the whole objects and the number of stubs.
func (c *Capacity) Held() (bytes, stubs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held, c.stubs
}

// Tight reports whether more than half of the capacity is used.
func (c *Capacity) Tight() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held > c.room/2
}

// keep makes an object whole. c.mu must be held, as for the methods below.
func (c *Capacity) keep(e *entry, obj Object, size int) {
	e.object, e.whole = obj, true
	e.size, e.files = size+e.guess, nil
	for _, charge := range e.charges {
		e.size += charge.bytes
		e.files = charge.with(e.files)
	}
	ns := c.namespaces[e.Namespace]
	if ns == nil {
		ns = &namespace{name: e.Namespace, files: map[string]*file{}}
		c.namespaces[e.Namespace] = ns
	}
	c.held += ns.add(e)
	heap.Push(ns, e)
}

// drop stops counting an object.
func (c *Capacity) drop(e *entry) {
	if !e.whole {
		c.stubs--
		c.statuses -= e.status
		return
	}
	e.whole = false
	ns := c.namespaces[e.Namespace]
	heap.Remove(ns, e.index)
	c.held -= ns.remove(e)
	if len(ns.entries) == 0 {
		delete(c.namespaces, e.Namespace)
	}
}

// leaveOut replaces a whole object by a stub.
func (c *Capacity) leaveOut(e *entry) {
	c.drop(e)
	e.object, e.status = stub(e.object, leftOut(e, c.room), c.room/statusShare-c.statuses)
	c.stubs++
	c.statuses += e.status
}

// shrink leaves out objects until the others fit.
func (c *Capacity) shrink() {
	for c.held > c.room {
		var most *namespace
		for _, ns := range c.namespaces {
			if most == nil || ns.before(most) {
				most = ns
			}
		}
		e := most.entries[0]
		c.leaveOut(e)
		e.cache.change(e)
	}
}

// settleSoon schedules a division among all objects if there are stubs.
func (c *Capacity) settleSoon(pause time.Duration) {
	if c.stubs > 0 && c.settling == nil {
		c.settling = time.AfterFunc(pause, c.settle)
	}
}

// settle decides which objects are whole.
func (c *Capacity) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settling = nil
	if c.stubs == 0 {
		return
	}
	all := make([]*entry, 0, len(c.entries))
	objects := make([]share.Object, 0, len(c.entries))
	for _, e := range c.entries {
		all = append(all, e)
		objects = append(objects, share.Object{Namespace: e.Namespace, Name: e.id(), Bytes: e.size, Files: e.files})
	}
	out := share.Divide(objects, c.room)
	for i, e := range all {
		if len(out) > 0 && out[0] == i {
			out = out[1:]
			if e.whole {
				c.leaveOut(e)
				e.cache.change(e)
			}
			continue
		}
		if !e.whole {
			e.cache.want(e)
		}
	}
}

// id orders the objects of a namespace that have the same size.
func (e *entry) id() string { return e.kind + "/" + e.Name }

// all returns the size of the object including all files.
func (e *entry) all() int {
	n := e.size
	for _, bytes := range e.files {
		n += bytes
	}
	return n
}

// namespace is a heap of the whole objects of one namespace with the largest first.
type namespace struct {
	name    string
	held    int
	files   map[string]*file
	entries []*entry
}

// file is a file that objects share.
type file struct{ bytes, uses int }

// add counts an object and returns the additional bytes.
func (n *namespace) add(e *entry) int {
	more := e.size
	for name, bytes := range e.files {
		f := n.files[name]
		if f == nil {
			f = &file{bytes: bytes}
			n.files[name] = f
			more += bytes
		}
		f.uses++
	}
	n.held += more
	return more
}

// remove stops counting an object and returns the freed bytes.
func (n *namespace) remove(e *entry) int {
	less := e.size
	for name := range e.files {
		f := n.files[name]
		if f.uses--; f.uses == 0 {
			less += f.bytes
			delete(n.files, name)
		}
	}
	n.held -= less
	return less
}

// before reports whether n loses an object before o does.
func (n *namespace) before(o *namespace) bool {
	if n.held != o.held {
		return n.held > o.held
	}
	return n.name < o.name
}

func (n *namespace) Len() int { return len(n.entries) }

func (n *namespace) Less(i, j int) bool {
	a, b := n.entries[i], n.entries[j]
	if x, y := a.all(), b.all(); x != y {
		return x > y
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.Name < b.Name
}

func (n *namespace) Swap(i, j int) {
	n.entries[i], n.entries[j] = n.entries[j], n.entries[i]
	n.entries[i].index, n.entries[j].index = i, j
}

// Push implements heap.Interface.
func (n *namespace) Push(x any) {
	e := x.(*entry)
	e.index = len(n.entries)
	n.entries = append(n.entries, e)
}

// Pop implements heap.Interface.
func (n *namespace) Pop() any {
	last := len(n.entries) - 1
	out := n.entries[last]
	n.entries[last] = nil
	n.entries = n.entries[:last]
	return out
}
