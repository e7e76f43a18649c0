package targetset

import (
	"iter"
	"strings"
	"sync"
)

// wholes are the groups of a set of which one step drops all targets. In a large namespace, these are nearly all groups
// for nearly every job, so that each takes a few bytes.
type wholes struct {
	pages map[pageKey]*page
}

// pageKey identifies groups with successive numbers.
type pageKey struct {
	discovery int
	of        *numbering
	page      uint32
}

// page has the groups of a page by the rest of their number. Those without targets are not in the set.
type page struct {
	drops [pageSize]drops
	used  int
}

const (
	pageSize = 64
	// pageBytes is the approximate memory of a page in bytes, with its part of the map and of the numbers.
	pageBytes = 720
)

// put replaces a group; drops without targets remove it. It returns those that it replaces, and the number of bytes that
// the groups take more.
func (w *wholes) put(key Key, d drops) (before drops, more int) {
	of, id, known := sources.find(key.Source)
	if known {
		if p := w.pages[pageKey{key.Discovery, of, id / pageSize}]; p != nil {
			before = p.drops[id%pageSize]
		}
	}
	if before == d {
		return before, 0
	}
	if before.targets == 0 {
		of, id = sources.use(key.Source)
	}
	at := pageKey{key.Discovery, of, id / pageSize}
	p := w.pages[at]
	if p == nil {
		p = &page{}
		if w.pages == nil {
			w.pages = map[pageKey]*page{}
		}
		w.pages[at] = p
		more = pageBytes
	}
	p.drops[id%pageSize] = d
	switch {
	case before.targets == 0:
		p.used++
	case d.targets == 0:
		if p.used--; p.used == 0 {
			delete(w.pages, at)
			more = -pageBytes
		}
		of.free(id)
	}
	return before, more
}

// all returns the groups in random order.
func (w *wholes) all() iter.Seq2[Key, drops] {
	return func(yield func(Key, drops) bool) {
		for at, p := range w.pages {
			names := at.of.page(at.page)
			for i, d := range p.drops {
				if d.targets > 0 && !yield(Key{at.discovery, names[i]}, d) {
					return
				}
			}
		}
	}
}

// clear removes all groups.
func (w *wholes) clear() {
	for at, p := range w.pages {
		for i, d := range p.drops {
			if d.targets > 0 {
				at.of.free(at.page*pageSize + uint32(i))
			}
		}
	}
	w.pages = nil
}

// sources has the numbers of the groups in all sets.
var sources numbers

// numbers are small numbers of groups, by source. Groups of one namespace have successive ones.
type numbers struct {
	mu sync.Mutex
	of map[string]*numbering // by the source without the name of the object
}

// numbering has the numbers of the groups of one kind and namespace. The mutex of numbers guards it.
type numbering struct {
	in      *numbers
	prefix  string
	ids     map[string]uint32
	sources []string // by number
	uses    []uint32 // by number
	spare   []uint32 // numbers without a group
}

func prefixOf(source string) string { return source[:strings.LastIndexByte(source, '/')+1] }

// find returns the number of a group that a set has.
func (n *numbers) find(source string) (of *numbering, id uint32, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if of = n.of[prefixOf(source)]; of == nil {
		return nil, 0, false
	}
	id, known = of.ids[source]
	return of, id, known
}

// use returns the number of a group for one more set.
func (n *numbers) use(source string) (*numbering, uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	prefix := prefixOf(source)
	of := n.of[prefix]
	if of == nil {
		if n.of == nil {
			n.of = map[string]*numbering{}
		}
		of = &numbering{in: n, prefix: prefix, ids: map[string]uint32{}}
		n.of[prefix] = of
	}
	id, known := of.ids[source]
	if known {
		of.uses[id]++
		return of, id
	}
	if last := len(of.spare) - 1; last >= 0 {
		id, of.spare = of.spare[last], of.spare[:last]
		of.sources[id], of.uses[id] = source, 1
	} else {
		id = uint32(len(of.sources))
		of.sources, of.uses = append(of.sources, source), append(of.uses, 1)
	}
	of.ids[source] = id
	return of, id
}

// free releases a number for one set.
func (of *numbering) free(id uint32) {
	of.in.mu.Lock()
	defer of.in.mu.Unlock()
	if of.uses[id]--; of.uses[id] > 0 {
		return
	}
	delete(of.ids, of.sources[id])
	of.sources[id] = ""
	if of.spare = append(of.spare, id); len(of.ids) == 0 {
		delete(of.in.of, of.prefix)
	}
}

// page returns the sources of the numbers of a page.
func (of *numbering) page(page uint32) (out [pageSize]string) {
	of.in.mu.Lock()
	defer of.in.mu.Unlock()
	copy(out[:], of.sources[page*pageSize:])
	return out
}
