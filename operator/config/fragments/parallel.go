package fragments

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// All returns the fragment of each object of a kind, in order. It reuses current
// fragments of the last pass and compiles the rest in parallel. The objects must be
// sorted by namespace and name. current reports whether a fragment is current; if nil, all fragments of the last pass
// are. postponed (optional) reports whether a result is preliminary; it is replaced by an earlier one of the object, if
// there is one. compile gets objects as they are, which may be packed. Callers must not modify the result, and not use
// it after the next pass, because the one after that overwrites it.
func All[T metav1.Object, F any](last *LastPass[F], kind string, objects []T, current, postponed func(F) bool, compile func(T) F) []F {
	of := last.of(kind)
	all := of.room(len(objects))
	out := all.fragments
	var missing []int
	for i, o := range objects {
		var ok bool
		all.versions[i] = versionOf(o)
		if out[i], ok = of.find(all.versions[i]); !ok || current != nil && !current(out[i]) {
			missing = append(missing, i)
		}
	}
	parallel(len(missing), func(i int) {
		object := objects[missing[i]]
		inFlight().weighed(object, func() { out[missing[i]] = compile(object) })
	})
	if of != nil && postponed != nil {
		of.substitute(all, missing, postponed)
	}
	of.note(all)
	return out
}

// Without returns objects and fragments without the postponed ones, which are new objects that were not compiled yet.
func Without[T, F any](objects []T, all []F, postponed func(F) bool) ([]T, []F) {
	if !slices.ContainsFunc(all, postponed) {
		return objects, all
	}
	var outObjects []T
	var out []F
	for i, f := range all {
		if !postponed(f) {
			outObjects, out = append(outObjects, objects[i]), append(out, f)
		}
	}
	return outObjects, out
}

// worthGoroutines is the minimum number of objects that are compiled in parallel. Only
// the first reconciliation of a large workload has that many.
const worthGoroutines = 64

// parallel calls do for 0 to n-1, on all CPUs if n is large. A panic in do is propagated to the caller.
func parallel(n int, do func(int)) {
	if n < worthGoroutines {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var failed atomic.Value
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed.CompareAndSwap(nil, panicked{p})
				}
			}()
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
	if p, ok := failed.Load().(panicked); ok {
		panic(p.value)
	}
}

type panicked struct{ value any }
