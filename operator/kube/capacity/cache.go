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
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// mostCounted is an upper bound for the measured size of an object. Decoded objects are smaller.
const mostCounted = 64 << 20

// ErrTooLong means that a response of the API server exceeds the byte limit.
var ErrTooLong = errors.New("the answer has too many bytes")

// ReadAtMost reads a response of at most most bytes.
//
// Errors: [ErrTooLong]; those of the reader.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, ErrTooLong
	}
	return text, err
}

// Reader reads an object by name.
//
// Errors: apierrors.IsNotFound if it does not exist.
type Reader func(ctx context.Context, name types.NamespacedName) (Object, error)

// Cache is the part of a [Capacity] that one object cache uses. The object cache must pass each
// object to Enter before storing it, and to Remove when it is deleted.
type Cache struct {
	of   *Capacity
	kind string
	read Reader

	compiles bool

	changed chan struct{} // signals changes
	reading chan struct{} // signals wanted

	// The fields below are guarded by of.mu.
	changes map[types.NamespacedName]bool // objects that the object cache does not hold in their current form yet
	wanted  map[types.NamespacedName]bool // stubs to read
	relist  uint64                        // number of the last list
	listing bool
}

// Cache returns the part of one object cache. read reads its objects by name. compiles means that
// workloads compile the objects; until an object is compiled, the size of the result is
// estimated.
func (c *Capacity) Cache(kind string, compiles bool, read Reader) *Cache {
	return &Cache{
		of: c, kind: kind, compiles: compiles, read: read, changed: make(chan struct{}, 1), reading: make(chan struct{}, 1),
		changes: map[types.NamespacedName]bool{}, wanted: map[types.NamespacedName]bool{},
	}
}

// Enter adds a new or changed object and returns the form to cache: the object, the previously
// cached one if it has not changed, or a stub.
func (c *Cache) Enter(obj Object) Object {
	size := budget.Size(obj, mostCounted)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	at := c.place(catalog.KeyOf(obj))
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
	delete(c.changes, at.NamespacedName) // the caller stores the returned form
	c.of.settleSoon(c.of.pause)
	return e.object
}

// Remove removes a deleted object.
func (c *Cache) Remove(obj Object) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.remove(c.of.entries[c.place(catalog.KeyOf(obj))])
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

// Relist starts a list of all objects of the cache, which are passed to Enter one by one.
func (c *Cache) Relist() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.relist++
	c.listing = true
}

// Listed ends a list and returns all objects to cache. Objects that were not entered since
// [Cache.Relist] no longer exist and are removed.
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

// Changed returns a channel that signals objects for Take.
func (c *Cache) Changed() <-chan struct{} { return c.changed }

// Take returns the objects whose cached form must be replaced: stubs of whole objects, or whole
// objects for stubs. During a list it only returns objects that were entered in it.
func (c *Cache) Take() []Object {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var out []Object
	for name := range c.changes {
		e := c.of.entries[c.place(name)]
		if c.listing && e.relist != c.relist {
			continue // it may no longer exist
		}
		delete(c.changes, name)
		out = append(out, e.object)
	}
	return out
}

// Untake puts back objects from Take that did not reach the object cache.
func (c *Cache) Untake(objects []Object) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, obj := range objects {
		if e := c.of.entries[c.place(catalog.KeyOf(obj))]; e != nil {
			c.change(e)
		}
	}
}

// change marks an object whose cached form must be replaced.
func (c *Cache) change(e *entry) {
	c.changes[e.NamespacedName] = true
	signal(c.changed)
}

// want marks a stub to be read.
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

// Run reads stubs that fit again, the smallest first, until the context ends.
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

// due returns the stubs to read now.
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

// reread reads a stub. It returns false if the context has ended.
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
		return true // the watch will report the deletion
	}
	c.restore(name, obj, err)
	return true
}

// fits reports whether the whole object would fit in place of a stub, and counts the attempt to read it.
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
		e.attempts = 0 // the object was whole for a while
	}
	e.after = now.Add(min(c.of.pause<<min(e.attempts, 10), lastRetry))
	e.attempts++
	return true
}

// restore caches a whole object that was read, unless the watch has another version, which
// replaces it anyway.
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

// same reports whether a and b are the same version of an object.
func same(a, b Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != ""
}

func (c *Cache) place(name types.NamespacedName) place { return place{c.kind, name} }
