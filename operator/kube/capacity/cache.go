package capacity

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// mostCounted is where the size of an object stops to be counted: no object that is decoded
// is so large.
const mostCounted = 64 << 20

// ErrTooLong says that an answer of the API server has more bytes than there is room for.
var ErrTooLong = errors.New("the answer has too many bytes")

// ReadAtMost reads an answer of the API server that has at most some bytes.
//
// Errors: [ErrTooLong]; those of the reader.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, ErrTooLong
	}
	return text, err
}

// Reader reads an object by its name.
//
// Errors: apierrors.IsNotFound for one that does not exist.
type Reader func(ctx context.Context, name types.NamespacedName) (Object, error)

// Cache is what one cache has in a [Capacity]. The cache must enter each object on its way in,
// and remove it when it is deleted.
type Cache struct {
	of   *Capacity
	kind string
	read Reader

	compiles bool

	changed chan struct{} // signals changes
	reading chan struct{} // signals wanted

	// guarded by of.mu
	changes map[types.NamespacedName]bool // what the cache does not have yet as it is to be
	wanted  map[types.NamespacedName]bool // stubs to read
	relist  uint64                        // number of the last one
	listing bool
}

// Cache returns the part of one cache; read reads its objects by name. compiles says that
// workloads compile them: until one has, what that takes is guessed.
func (c *Capacity) Cache(kind string, compiles bool, read Reader) *Cache {
	return &Cache{
		of: c, kind: kind, compiles: compiles, read: read, changed: make(chan struct{}, 1), reading: make(chan struct{}, 1),
		changes: map[types.NamespacedName]bool{}, wanted: map[types.NamespacedName]bool{},
	}
}

// Enter takes an object that is new or has changed, and returns what the cache is to hold: the
// object, the same one that it holds if nothing has changed, or a stub.
func (c *Cache) Enter(obj Object) Object {
	size := budget.Size(obj, mostCounted)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	at := c.place(nameOf(obj))
	e := c.of.entries[at]
	if e == nil {
		e = &entry{place: at}
		c.of.entries[at] = e
	} else {
		if e.whole && same(e.object, obj) {
			e.cache, e.relist = c, c.relist
			return e.object
		}
		c.of.drop(e)
		if e.object.GetUID() != obj.GetUID() {
			e.charges = nil
		}
	}
	if c.compiles && (e.object == nil || e.object.GetUID() != obj.GetUID() || e.object.GetGeneration() != obj.GetGeneration()) {
		e.guess = max(0, guess(size)-e.charged())
	}
	e.cache, e.relist = c, c.relist
	c.of.keep(e, obj, size)
	c.of.shrink()
	delete(c.changes, at.NamespacedName) // the caller passes it on
	c.of.settleSoon(c.of.pause)
	return e.object
}

// Remove takes an object that was deleted.
func (c *Cache) Remove(obj Object) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.remove(c.of.entries[c.place(nameOf(obj))])
}

func (c *Cache) remove(e *entry) {
	if e == nil {
		return
	}
	c.of.drop(e)
	delete(c.of.entries, e.place)
	delete(c.changes, e.NamespacedName)
	delete(c.wanted, e.NamespacedName)
	c.of.settleSoon(c.of.pause)
}

// Relist begins a list of all objects of the cache, which are entered as they come.
func (c *Cache) Relist() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.relist++
	c.listing = true
}

// Listed ends a list, and returns what the cache is to hold: what was not entered since
// [Cache.Relist] does not exist any more.
func (c *Cache) Listed() []Object {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.listing = false
	var out []Object
	for _, e := range c.of.entries {
		switch {
		case e.cache != c:
		case e.relist != c.relist:
			c.remove(e)
		default:
			out = append(out, e.object)
		}
	}
	return out
}

// Changed is signalled when there is something to take.
func (c *Cache) Changed() <-chan struct{} { return c.changed }

// Take returns objects that the cache is to hold in another form than it does: stubs of whole
// objects, or whole ones for stubs. During a list these are only objects that were entered in it.
func (c *Cache) Take() []Object {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var out []Object
	for name := range c.changes {
		e := c.of.entries[c.place(name)]
		if c.listing && e.relist != c.relist {
			continue // it may not exist any more
		}
		delete(c.changes, name)
		out = append(out, e.object)
	}
	return out
}

// Untake returns what was taken and did not reach the cache.
func (c *Cache) Untake(objects []Object) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, obj := range objects {
		if e := c.of.entries[c.place(nameOf(obj))]; e != nil {
			c.change(e)
		}
	}
}

// change notes that the cache is to hold an object in another form.
func (c *Cache) change(e *entry) {
	c.changes[e.NamespacedName] = true
	signal(c.changed)
}

// want notes that a stub is to be read.
func (c *Cache) want(e *entry) {
	c.wanted[e.NamespacedName] = true
	signal(c.reading)
}

func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Run reads stubs for which there is room, the smallest first, until the context ends.
func (c *Cache) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.reading:
		}
		for _, name := range c.due() {
			if !c.reread(ctx, name) {
				return
			}
		}
	}
}

// due are the stubs to read now.
func (c *Cache) due() []types.NamespacedName {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	now := time.Now()
	var out []*entry
	for name := range c.wanted {
		if e := c.of.entries[c.place(name)]; e.after.After(now) {
			c.of.settleSoon(max(c.of.pause, e.after.Sub(now)))
		} else {
			out = append(out, e)
		}
	}
	clear(c.wanted)
	slices.SortFunc(out, func(a, b *entry) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.id(), b.id())) })
	names := make([]types.NamespacedName, len(out))
	for i, e := range out {
		names[i] = e.NamespacedName
	}
	return names
}

// reread reads a stub; false when the context has ended.
func (c *Cache) reread(ctx context.Context, name types.NamespacedName) bool {
	select {
	case c.of.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-c.of.slots }()
	if !c.fits(name) {
		return true
	}
	obj, err := c.read(ctx, name)
	if ctx.Err() != nil {
		return false
	}
	if apierrors.IsNotFound(err) {
		return true // the watch is about to tell
	}
	c.restore(name, obj, err)
	return true
}

// fits reports whether a stub would fit as a whole, and counts the attempt to read it.
func (c *Cache) fits(name types.NamespacedName) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	e := c.of.entries[c.place(name)]
	if e == nil || e.whole {
		return false
	}
	if c.of.held+e.all() > c.of.room {
		c.of.settleSoon(c.of.pause)
		return false
	}
	now := time.Now()
	if now.Sub(e.after) > 2*lastRetry {
		e.attempts = 0 // it stayed whole for a while
	}
	e.after = now.Add(min(c.of.pause<<min(e.attempts, 10), lastRetry))
	e.attempts++
	return true
}

// restore caches an object as a whole that was read, unless the watch knows of another
// version: then that arrives, or has arrived.
func (c *Cache) restore(name types.NamespacedName, obj Object, err error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	e := c.of.entries[c.place(name)]
	if e == nil || e.whole {
		return
	}
	if err == nil && same(e.object, obj) {
		if c.of.held+e.all() <= c.of.room {
			c.of.drop(e)
			c.of.keep(e, obj, budget.Size(obj, mostCounted))
			c.change(e)
		}
	}
	c.of.settleSoon(c.of.pause)
}

// same reports whether two objects are the same version of one.
func same(a, b Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}

func (c *Cache) place(name types.NamespacedName) place { return place{c.kind, name} }

func nameOf(obj Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
