// Package budgettest measures for tests what a piece of work allocates. It counts bytes
// instead of time, so that tests hold on any machine.
package budgettest

import (
	"runtime"
	"testing"
)

// Allocated is how many bytes all goroutines allocate while do runs.
func Allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// AtMost fails the test when do allocates more than limit bytes, each of three times: what the
// runtime and others allocate meanwhile differs.
func AtMost(t testing.TB, what string, limit int64, do func()) {
	t.Helper()
	var n int64
	for range 3 {
		if n = Allocated(do); n <= limit {
			return
		}
	}
	t.Errorf("%s: %d bytes allocated, want at most %d", what, n, limit)
}

// Measure is [Allocated] of work with a result, and how many bytes the result keeps in memory.
func Measure[T any](do func() T) (result T, allocated, kept int64) {
	before := live()
	allocated = Allocated(func() { result = do() })
	kept = live() - before
	return result, allocated, kept
}

// live is what is in memory after a collection.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
