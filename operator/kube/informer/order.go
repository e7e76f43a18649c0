package informer

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CompareKeys compares the "namespace/name" of two objects byte by byte without building the strings:
// foo-bar/x sorts before foo/x, because '-' is less than '/'.
func CompareKeys(a, b metav1.Object) int {
	return CompareNames(a.GetNamespace(), a.GetName(), b.GetNamespace(), b.GetName())
}

// CompareNames is like [CompareKeys] for namespaces and names.
func CompareNames(nsA, nameA, nsB, nameB string) int {
	if nsA == nsB {
		return strings.Compare(nameA, nameB)
	}
	n := min(len(nsA), len(nsB))
	if c := strings.Compare(nsA[:n], nsB[:n]); c != 0 {
		return c
	}
	if len(nsA) > n {
		return int(nsA[n]) - '/'
	}
	return '/' - int(nsB[n])
}

// order keeps objects sorted. Changes are collected and merged on demand, so that many of them cost about
// as much as one.
type order[T metav1.Object] struct {
	mu      sync.Mutex
	sorted  []T
	version uint64      // changes with the content
	lent    bool        // sorted was returned by list and must not be modified
	old     bool        // sorted has earlier versions of objects in changes
	timer   *time.Timer // merges after keepOld; nil: none is pending
	changes map[types.NamespacedName]orderChange[T]
	edits   edits // that led to sorted
}

// orderChange is the newest version of an object, or its deletion.
type orderChange[T metav1.Object] struct {
	types.NamespacedName
	object T
	gone   bool
}

// mostChanges limits the number of collected changes. While changes keep earlier versions of objects in memory, mostOld
// limits their number, and keepOld the time, because list may not be called for a long time.
const (
	mostChanges = 4096
	mostOld     = 64
	keepOld     = 10 * time.Second
)

// note records a changed object. current returns its newest version; ok is false if it does not exist.
// With release, no earlier version remains in memory, which costs at most one copy of the order per call
// of list.
func (o *order[T]) note(obj T, release bool, current func() (newest T, ok bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := orderChange[T]{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}}
	newest, ok := current()
	if ok {
		c.object = newest
	}
	c.gone = !ok
	at, found := o.search(o.sorted, c)
	switch {
	case found && ok && any(o.sorted[at]) == any(newest), !found && !ok:
		if _, pending := o.changes[c.NamespacedName]; pending {
			o.version++
		}
		delete(o.changes, c.NamespacedName) // unchanged
	case found && ok && !o.lent:
		o.version++
		o.sorted[at] = newest
		o.edits.add(Edit{Replaced, at})
		delete(o.changes, c.NamespacedName)
	default:
		o.version++
		if o.changes == nil {
			o.changes = map[types.NamespacedName]orderChange[T]{}
		}
		o.changes[c.NamespacedName] = c
		o.old = o.old || found
	}
	switch {
	case o.old && (release || len(o.changes) > mostOld) || len(o.changes) > mostChanges:
		o.merge()
	case o.old && o.timer == nil:
		o.timer = time.AfterFunc(keepOld, o.release)
	}
}

// release drops earlier versions of objects.
func (o *order[T]) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if o.old {
		o.merge()
	}
}

// search returns the position of the object of a change in part, or where it would be inserted.
func (o *order[T]) search(part []T, c orderChange[T]) (at int, found bool) {
	return slices.BinarySearchFunc(part, c, func(have T, c orderChange[T]) int {
		return CompareNames(have.GetNamespace(), have.GetName(), c.Namespace, c.Name)
	})
}

// fill replaces all objects with the result of list. Changes after list has run must be noted again.
func (o *order[T]) fill(list func() []T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version++
	o.edits.forget()
	o.sorted, o.changes, o.lent, o.old = slices.SortedFunc(slices.Values(list()), func(a, b T) int { return CompareKeys(a, b) }), nil, false, false
}

// list returns the objects. Callers must not modify the slice.
func (o *order[T]) list() []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.merge()
	o.lent = true
	return o.sorted
}

// since returns the objects, which callers must not modify, and the changes since an earlier call that returned seq; ok
// is false if they are unknown.
func (o *order[T]) since(seq uint64) (sorted []T, now uint64, changed []Edit, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.merge()
	o.lent = true
	changed, ok = o.edits.since(seq)
	return o.sorted, o.edits.last, changed, ok
}

// in returns the objects in a namespace. Callers must not modify the slice.
func (o *order[T]) in(namespace string) []T {
	all := o.list()
	from, to := Range(all, namespace)
	return all[from:to]
}

// Range returns where the objects in a namespace are in a sorted list.
func Range[T metav1.Object](sorted []T, namespace string) (from, to int) {
	compare := func(have T, namespace string) int { return CompareNames(have.GetNamespace(), "", namespace, "") }
	from, _ = slices.BinarySearchFunc(sorted, namespace, compare)
	n, _ := slices.BinarySearchFunc(sorted[from:], namespace, func(have T, namespace string) int { return max(compare(have, namespace), 0)*2 - 1 })
	return from, from + n
}

// merge applies the changes. o.mu must be held.
func (o *order[T]) merge() {
	if len(o.changes) == 0 {
		return
	}
	changed := slices.SortedFunc(maps.Values(o.changes), func(a, b orderChange[T]) int {
		return CompareNames(a.Namespace, a.Name, b.Namespace, b.Name)
	})
	out := make([]T, 0, len(o.sorted)+len(changed))
	rest := o.sorted
	for _, c := range changed {
		at, found := o.search(rest, c)
		out = append(out, rest[:at]...)
		switch {
		case found && !c.gone:
			o.edits.add(Edit{Replaced, len(out)})
		case found:
			o.edits.add(Edit{Removed, len(out)})
		case !c.gone:
			o.edits.add(Edit{Inserted, len(out)})
		}
		if found {
			at++
		}
		rest = rest[at:]
		if !c.gone {
			out = append(out, c.object)
		}
	}
	o.sorted, o.changes, o.lent, o.old = append(out, rest...), nil, false, false
}
