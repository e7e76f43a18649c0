package fragments

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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

// Large objects are compiled one at a time, small ones as many as the memory of the process is for. A
// panic releases the memory reservation.
func TestLargeObjectsWaitForEachOther(t *testing.T) {
	large := &v1.ServiceMonitor{}
	large.Spec.JobLabel = strings.Repeat("x", budget.CompiledBytes/2)
	huge := &v1.ServiceMonitor{}
	huge.Spec.JobLabel = strings.Repeat("x", 2*budget.CompiledBytes)
	for name, tc := range map[string]struct {
		object   *v1.ServiceMonitor
		together int32
	}{"large": {large, 1}, "larger than all room": {huge, 1}, "small": {&v1.ServiceMonitor{}, 5}} {
		synctest.Test(t, func(t *testing.T) {
			room := newLimiter(5*budget.CompilationBytes + 1)
			var now, most atomic.Int32
			for i := range 8 {
				go func() {
					defer func() { _ = recover() }()
					room.weighed(tc.object, func() {
						most.Store(max(most.Load(), now.Add(1)))
						defer now.Add(-1)
						time.Sleep(time.Second)
						if i == 0 {
							panic("broken object")
						}
					})
				}()
			}
			synctest.Wait()
			if got := now.Load(); got != tc.together {
				t.Errorf("%s: %d at the same time, want %d", name, got, tc.together)
			}
			time.Sleep(time.Minute)
			if most.Load() != tc.together || !room.free.TryAcquire(budget.CompiledBytes) {
				t.Errorf("%s: %d at the same time in the end", name, most.Load())
			}
		})
	}
}
