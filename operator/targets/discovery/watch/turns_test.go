package watch

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// With more subscriptions than CPUs, each has its turn in time: a long one waits for the others.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cluster
		long := make([]*Turn, runtime.GOMAXPROCS(0))
		for i := range long {
			long[i] = c.Turn()
		}
		order := make(chan string, 3)
		go func() {
			turn := c.Turn()
			order <- "short"
			turn.End()
		}()
		synctest.Wait()
		if long[0].Share(); len(order) > 0 {
			t.Error("a turn ended at once")
		}
		time.Sleep(turnLength)
		long[0].Share()
		order <- "long"
		for _, turn := range long {
			turn.End()
		}
		if got := []string{<-order, <-order}; !slices.Equal(got, []string{"short", "long"}) {
			t.Errorf("in the order %v", got)
		}
	})
}
