// Package budgettest measures memory allocations in tests. It counts bytes instead of time, so that results do not
// depend on the machine.
package budgettest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Exact skips a test that needs exact numbers of bytes if the race detector is on: with it, pools keep only some of what
// is put into them.
func Exact(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("the race detector changes what is allocated")
	}
}

// Allocated returns the number of bytes that all goroutines allocate while do runs.
func Allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// AtMost fails the test if do allocates more than limit bytes in each of three runs. It retries because other
// goroutines also allocate.
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

// Measure is like [Allocated] for a function with a result, and also returns the number of bytes that the result
// retains.
func Measure[T any](do func() T) (result T, allocated, kept int64) {
	before := live()
	allocated = Allocated(func() { result = do() })
	kept = live() - before
	return result, allocated, kept
}

// live returns the size of the heap after a garbage collection.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Numbered repeats a format with consecutive numbers.
func Numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
