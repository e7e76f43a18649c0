package watch

import (
	"runtime"
	"slices"
	"sync/atomic"
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
			long[i] = c.Turn("a")
		}
		order := make(chan string, 3)
		go func() {
			turn := c.Turn("a")
			order <- "short"
			turn.End()
		}()
		synctest.Wait()
		if long[0].Share(false); len(order) > 0 {
			t.Error("a turn ended at once")
		}
		time.Sleep(turnLength)
		long[0].Share(false)
		order <- "long"
		for _, turn := range long {
			turn.End()
		}
		if got := []string{<-order, <-order}; !slices.Equal(got, []string{"short", "long"}) {
			t.Errorf("in the order %v", got)
		}
	})
}

// Thousands of jobs of one namespace, of which each takes long, do not delay those of another one: it has the next turn, and keeps it
// until it has used as much time.
func TestTurnsOfNamespaces(t *testing.T) {
	for _, slow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var c Cluster
			var bad atomic.Int32
			var stop atomic.Bool
			for range 2000 {
				go func() {
					turn := c.Turn("bad")
					defer turn.End()
					for !stop.Load() {
						bad.Add(1)
						time.Sleep(200 * time.Millisecond)
						turn.Share(slow)
					}
				}()
			}
			synctest.Wait()
			time.Sleep(10 * time.Second)
			began := time.Now()
			turn := c.Turn("good")
			for range 100 {
				time.Sleep(time.Millisecond)
				turn.Share(slow)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("slow %t: 100 ms take %s", slow, took)
			}
			before := bad.Load()
			time.Sleep(4 * time.Second)
			turn.Share(slow)
			if bad.Load() == before {
				t.Errorf("slow %t: the other namespace has no turn", slow)
			}
			turn.End()
			stop.Store(true)
			synctest.Wait()
			time.Sleep(time.Hour)
			c.turns.mu.Lock()
			defer c.turns.mu.Unlock()
			if n := len(c.turns.waiting) + len(c.turns.used) + len(c.turns.open) + c.turns.running + c.turns.slow; n > 0 {
				t.Errorf("slow %t: %d turns, and what they have used, are kept", slow, n)
			}
		})
	}
}

// Expensive evaluations take half of the CPUs, so that others have their turn without waiting.
func TestSlowTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cluster
		for range 100 {
			go func() {
				turn := c.Turn("bad")
				turn.Share(true)
				time.Sleep(time.Minute)
				turn.End()
			}()
		}
		synctest.Wait()
		c.turns.mu.Lock()
		if c.turns.slow != maxSlow() || c.turns.running != maxSlow() {
			t.Errorf("%d expensive turns, %d in all", c.turns.slow, c.turns.running)
		}
		c.turns.mu.Unlock()
		time.Sleep(2 * time.Hour)
	})
}
