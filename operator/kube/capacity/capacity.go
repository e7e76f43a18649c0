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

// Object is what caches hold.
type Object = interface {
	metav1.Object
	runtime.Object
}

const (
	// settlePause is the time from the first change to the next decision about all objects.
	settlePause = 2 * time.Second
	// reads is how many stubs are read at the same time, over all kinds.
	reads = 2
	// lastRetry is the longest pause before a stub that could not stay is read again.
	lastRetry = 5 * time.Minute
)

// Capacity is the room for the objects of all caches together.
type Capacity struct {
	room  int
	pause time.Duration
	slots chan struct{} // one for each read

	mu         sync.Mutex
	held       int // bytes of whole objects
	stubs      int
	entries    map[place]*entry
	namespaces map[string]*namespace
	settling   *time.Timer // the next decision; nil: nothing is to be decided
}

// place is where an object is.
type place struct {
	kind string
	types.NamespacedName
}

// entry is an object that exists.
type entry struct {
	place
	cache   *Cache
	object  Object   // as the cache has it: whole, or a stub
	charges []charge // what it compiles to
	whole   bool
	index   int // in the heap of its namespace, while it is whole

	// Of the whole object; those of a stub stay as they were.
	size  int            // bytes, with what it compiles to, or guess
	guess int            // bytes that it compiles to, before it was
	files map[string]int // bytes of files that it may have in common with others of its namespace

	relist   uint64    // the last one that had it
	attempts int       // how often it was read
	after    time.Time // when it may be read again
}

// New returns a capacity of some bytes.
func New(room int64) *Capacity {
	return &Capacity{
		room: int(room), pause: settlePause, slots: make(chan struct{}, reads),
		entries: map[place]*entry{}, namespaces: map[string]*namespace{},
	}
}

// Room returns how many bytes there are in all.
func (c *Capacity) Room() int { return c.room }

// Held returns how many bytes the whole objects take, and how many objects are stubs.
func (c *Capacity) Held() (bytes, stubs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held, c.stubs
}

// Tight reports whether the room is half full.
func (c *Capacity) Tight() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held > c.room/2
}

// keep makes an object whole. c.mu must be held, as for all that follows.
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

// leaveOut makes a stub of an object that is whole.
func (c *Capacity) leaveOut(e *entry) {
	c.drop(e)
	e.object = stub(e.object, leftOut(e, c.room))
	c.stubs++
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

// settleSoon has everything decided over all objects in a while, if there is anything to
// decide.
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

// id orders the objects of a namespace that are equally large.
func (e *entry) id() string { return e.kind + "/" + e.Name }

// all is what the object takes alone.
func (e *entry) all() int {
	n := e.size
	for _, bytes := range e.files {
		n += bytes
	}
	return n
}

// namespace has the whole objects of one namespace, as a heap: the largest comes first.
type namespace struct {
	name    string
	held    int
	files   map[string]*file
	entries []*entry
}

// file is what objects have in common.
type file struct{ bytes, uses int }

// add counts an object, and returns how many bytes more are held.
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

// remove stops counting an object, and returns how many bytes less are held.
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

// before reports whether a namespace loses an object before another one.
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
