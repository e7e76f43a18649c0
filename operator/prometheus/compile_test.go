package prometheus

import (
	"sync/atomic"
	"testing"
)

func TestSpreadCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, worthSpreading - 1, worthSpreading, 1000} {
		calls := make([]atomic.Int32, n)
		spread(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if c := calls[i].Load(); c != 1 {
				t.Errorf("%d: index %d was called %d times", n, i, c)
			}
		}
	}
}

func TestSpreadPanicsInTheCaller(t *testing.T) {
	for _, n := range []int{1, 1000} {
		func() {
			defer func() {
				if p := recover(); p != "broken object" {
					t.Errorf("%d: recovered %v", n, p)
				}
			}()
			spread(n, func(i int) {
				if i == n/2 {
					panic("broken object")
				}
			})
		}()
	}
}
