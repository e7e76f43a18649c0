package informer

import (
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CompareKeys compares the "namespace/name" of two objects byte by byte without
// building them: foo-bar/x comes before foo/x, because '-' comes before '/'.
func CompareKeys(a, b metav1.Object) int {
	return compareNames(a.GetNamespace(), a.GetName(), b.GetNamespace(), b.GetName())
}

func compareNames(nsA, nameA, nsB, nameB string) int {
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

// order keeps objects sorted. Changes are collected and merged when somebody
// looks, so that many of them cost about as much as one.
type order[T metav1.Object] struct {
	mu      sync.Mutex
	sorted  []T // handed out: replaced, never changed
	changes map[types.NamespacedName]orderChange[T]
}

type orderChange[T metav1.Object] struct {
	object T
	gone   bool
}

// note enters an object that has changed. current returns its newest version; ok
// is false when there is none.
func (o *order[T]) note(obj T, current func() (newest T, ok bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	newest, ok := current()
	if ok {
		obj = newest
	}
	if o.changes == nil {
		o.changes = map[types.NamespacedName]orderChange[T]{}
	}
	o.changes[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] = orderChange[T]{obj, !ok}
}

// fill replaces everything by what list returns. Changes that happen after list
// has run must be noted again.
func (o *order[T]) fill(list func() []T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sorted, o.changes = slices.SortedFunc(slices.Values(list()), func(a, b T) int { return CompareKeys(a, b) }), nil
}

// list returns the objects; callers must not change the slice.
func (o *order[T]) list() []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.changes) == 0 {
		return o.sorted
	}
	changed := slices.SortedFunc(maps.Values(o.changes), func(a, b orderChange[T]) int { return CompareKeys(a.object, b.object) })
	out := make([]T, 0, len(o.sorted)+len(changed))
	rest := o.sorted
	for _, c := range changed {
		at, found := slices.BinarySearchFunc(rest, c, func(have T, c orderChange[T]) int { return CompareKeys(have, c.object) })
		out = append(out, rest[:at]...)
		if found {
			at++
		}
		rest = rest[at:]
		if !c.gone {
			out = append(out, c.object)
		}
	}
	o.sorted, o.changes = append(out, rest...), nil
	return o.sorted
}
