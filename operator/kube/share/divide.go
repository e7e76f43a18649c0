package share

import (
	"cmp"
	"container/heap"
	"slices"
)

// Object is one object that takes room.
type Object struct {
	Namespace string
	// Name orders objects of one namespace that are equally large: "ServiceMonitor/web".
	Name string
	// Bytes are its own.
	Bytes int
	// Files are what it may have in common with other objects of its namespace: length in
	// bytes by name. Each counts once.
	Files map[string]int
}

// size is what the object takes alone.
func (o *Object) size() int {
	n := o.Bytes
	for _, bytes := range o.Files {
		n += bytes
	}
	return n
}

// Total returns how many bytes objects take together.
func Total(objects []Object) int {
	total := 0
	for _, h := range holders(objects) {
		total += h.bytes
	}
	return total
}

// Divide returns which objects to leave out so that the others take at most room bytes, as
// indices in ascending order; nil when all fit. The result depends on nothing but its
// arguments, and not on the order of the objects.
func Divide(objects []Object, room int) []int {
	all := holders(objects)
	total := 0
	for _, h := range all {
		total += h.bytes
	}
	if total <= room {
		return nil
	}
	for _, h := range all {
		h.sort(objects)
	}
	heap.Init(&all)
	var out []int
	for total > room && len(all) > 0 && all[0].left() {
		h := all[0]
		at := h.objects[h.next]
		h.next++
		freed := h.remove(&objects[at])
		h.bytes -= freed
		total -= freed
		out = append(out, at)
		heap.Fix(&all, 0)
	}
	slices.Sort(out)
	return out
}

// holder is a namespace and what it holds.
type holder struct {
	namespace string
	bytes     int
	objects   []int // indices, the largest first once they are sorted
	next      int   // index in objects of the next one to leave out
	files     map[string]*file
}

// file is what objects have in common.
type file struct {
	bytes, uses int
}

// holders returns the namespaces of objects.
func holders(objects []Object) holdings {
	var out holdings
	of := map[string]*holder{}
	for i := range objects {
		o := &objects[i]
		h := of[o.Namespace]
		if h == nil {
			h = &holder{namespace: o.Namespace}
			of[o.Namespace] = h
			out = append(out, h)
		}
		h.add(i, o)
	}
	return out
}

// add counts an object.
func (h *holder) add(index int, o *Object) {
	h.objects = append(h.objects, index)
	h.bytes += o.Bytes
	for name, bytes := range o.Files {
		if h.files == nil {
			h.files = map[string]*file{}
		}
		if h.files[name] == nil {
			h.files[name] = &file{bytes: bytes}
			h.bytes += bytes
		}
		h.files[name].uses++
	}
}

// remove stops counting an object and returns how many bytes that frees.
func (h *holder) remove(o *Object) int {
	freed := o.Bytes
	for name := range o.Files {
		f := h.files[name]
		if f.uses--; f.uses == 0 {
			freed += f.bytes
		}
	}
	return freed
}

// sort puts the largest objects first.
func (h *holder) sort(objects []Object) {
	sizes := make(map[int]int, len(h.objects))
	for _, i := range h.objects {
		sizes[i] = objects[i].size()
	}
	slices.SortFunc(h.objects, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(objects[a].Name, objects[b].Name))
	})
}

// left reports whether the namespace has an object that is not left out yet.
func (h *holder) left() bool { return h.next < len(h.objects) }

// holdings is a heap of namespaces: the one that holds most comes first.
type holdings []*holder

func (h holdings) Len() int      { return len(h) }
func (h holdings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *holdings) Push(x any)   { *h = append(*h, x.(*holder)) }

// Pop implements heap.Interface.
func (h *holdings) Pop() any {
	last := len(*h) - 1
	out := (*h)[last]
	*h = (*h)[:last]
	return out
}

// Less puts namespaces without an object last, whatever they hold.
func (h holdings) Less(i, j int) bool {
	if a, b := h[i].left(), h[j].left(); a != b {
		return a
	}
	return cmp.Or(cmp.Compare(h[j].bytes, h[i].bytes), cmp.Compare(h[i].namespace, h[j].namespace)) < 0
}
