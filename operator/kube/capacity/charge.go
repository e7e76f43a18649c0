package capacity

import (
	"container/heap"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// charge is the size of the compilation result of an object in one place.
type charge struct {
	by    any
	bytes int
	files map[string]int
}

// with returns files together with the files of the charge.
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

// Charge records the size in bytes of what by has compiled from an object, and of each file that objects of
// its namespace may share. It counts in addition to the object and replaces the previous charge of by; 0
// means that no result remains.
func (c *Capacity) Charge(by any, kind string, name types.NamespacedName, bytes int, files map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[place{kind, name}]
	if e == nil || !e.whole && bytes > 0 { // the result of a stub is not that of the whole object
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
		return // keeps the estimated size of the whole object
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

// charged returns the total bytes of the object's charges, without files.
func (e *entry) charged() (n int) {
	for _, charge := range e.charges {
		n += charge.bytes
	}
	return n
}

// ordinary is the size in memory, in bytes, up to which a quarter of an object is text that becomes
// configuration.
const ordinary = 8 << 10

// guess returns the estimated size of the compilation result of an object. Everything beyond [ordinary]
// counts as text.
func guess(size int) int { return min(size, ordinary)/4 + max(0, size-ordinary) }
