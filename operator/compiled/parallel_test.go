package compiled

import (
	"sync/atomic"
	"testing"
)

func TestParallelCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, worthGoroutines - 1, worthGoroutines, 1000} {
		calls := make([]atomic.Int32, n)
		parallel(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if c := calls[i].Load(); c != 1 {
				t.Errorf("%d: index %d was called %d times", n, i, c)
			}
		}
	}
}

func TestParallelPanicsInTheCaller(t *testing.T) {
	for _, n := range []int{1, 1000} {
		func() {
			defer func() {
				if p := recover(); p != "broken object" {
					t.Errorf("%d: recovered %v", n, p)
				}
			}()
			parallel(n, func(i int) {
				if i == n/2 {
					panic("broken object")
				}
			})
		}()
	}
}
