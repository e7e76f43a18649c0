package share

import (
	"cmp"
	"container/heap"
	"slices"
)

// Object is an object that occupies a part of the room.
type Object struct {
	Namespace string
	// Name orders objects of a namespace that have the same size: "ServiceMonitor/web".
	Name string
	// Bytes is the size of the object without Files.
	Bytes int
	// Files holds the files that the object may share with others of its namespace: sizes
	// in bytes by name. Shared files count once.
	Files map[string]int
}

// size returns the size of the object including all files.
func (o *Object) size() int {
	n := o.Bytes
	for _, bytes := range o.Files {
		n += bytes
	}
	return n
}

// Total returns the total size of objects in bytes, with shared files counted once.
func Total(objects []Object) int {
	total := 0
	for _, h := range holders(objects) {
		total += h.bytes
	}
	return total
}

// Divide returns the objects to leave out so that the others fit into room bytes, as
// indices in ascending order, or nil if all fit. The result is deterministic and does not
// depend on the order of the objects.
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

// holder is a namespace with its objects.
type holder struct {
	namespace string
	bytes     int
	objects   []int // indices, sorted by descending size after sort
	next      int   // position in objects of the next one to leave out
	files     map[string]*file
}

// file is a file that objects share.
type file struct {
	bytes, uses int
}

// holders groups objects by namespace.
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

// add adds an object to the namespace.
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

// remove releases the files of an object and returns how many bytes are freed.
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

// sort sorts the objects by descending size.
func (h *holder) sort(objects []Object) {
	sizes := make(map[int]int, len(h.objects))
	for _, i := range h.objects {
		sizes[i] = objects[i].size()
	}
	slices.SortFunc(h.objects, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(objects[a].Name, objects[b].Name))
	})
}

// left reports whether an object remains that is not left out yet.
func (h *holder) left() bool { return h.next < len(h.objects) }

// holdings is a heap of namespaces with the largest first.
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

// Less orders namespaces without remaining objects last, regardless of their size.
func (h holdings) Less(i, j int) bool {
	if a, b := h[i].left(), h[j].left(); a != b {
		return a
	}
	return cmp.Or(cmp.Compare(h[j].bytes, h[i].bytes), cmp.Compare(h[i].namespace, h[j].namespace)) < 0
}
