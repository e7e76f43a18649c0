package capacity

import (
	"container/heap"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// charge is what an object compiles to in one place.
type charge struct {
	by    any
	bytes int
	files map[string]int
}

// with adds the files of the charge.
func (c charge) with(files map[string]int) map[string]int {
	switch {
	case len(c.files) == 0:
		return files
	case files == nil:
		return c.files
	}
	out := maps.Clone(files)
	maps.Copy(out, c.files)
	return out
}

// Charge says how many bytes an object compiles to, and the bytes of each file that belongs to
// that and that objects of its namespace may have in common. It counts beside the object, and
// replaces what by has charged before; 0 when nothing is kept any more.
func (c *Capacity) Charge(by any, kind string, name types.NamespacedName, bytes int, files map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[place{kind, name}]
	if e == nil || !e.whole && bytes > 0 { // what a stub compiles to says nothing of the whole object
		return
	}
	i := slices.IndexFunc(e.charges, func(have charge) bool { return have.by == by })
	before := 0
	switch {
	case i >= 0 && e.guess == 0 && e.charges[i].bytes == bytes && maps.Equal(e.charges[i].files, files):
		return
	case i >= 0:
		before = e.charges[i].bytes
		e.charges[i] = charge{by, bytes, files}
	default:
		e.charges = append(e.charges, charge{by, bytes, files})
	}
	if !e.whole {
		return // it would take what it took
	}
	ns := c.namespaces[e.Namespace]
	c.held -= ns.remove(e)
	e.size += bytes - before - e.guess
	e.guess, e.files = 0, nil
	for _, charge := range e.charges {
		e.files = charge.with(e.files)
	}
	c.held += ns.add(e)
	heap.Fix(ns, e.index)
	c.shrink()
	c.settleSoon(c.pause)
}

// charged returns how many bytes the fragments of the object take.
func (e *entry) charged() (n int) {
	for _, charge := range e.charges {
		n += charge.bytes
	}
	return n
}

// ordinary is the size, in bytes in memory, up to which a quarter of an object is text that becomes configuration.
const ordinary = 8 << 10

// guess returns how many bytes an object of a size may compile to. Everything beyond [ordinary] is counted as text.
func guess(size int) int { return min(size, ordinary)/4 + max(0, size-ordinary) }
