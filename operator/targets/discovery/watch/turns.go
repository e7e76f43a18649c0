package watch

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// turns limits the number of subscriptions whose groups are evaluated at a time to that of the CPUs. A change of one
// group may concern thousands of jobs: if they all ran concurrently, requests would wait for each of them.
type turns struct {
	once sync.Once
	free *semaphore.Weighted
}

// Turn is the permission to evaluate groups. It is not safe for concurrent use.
type Turn struct {
	of    *turns
	since time.Time
}

// turnLength is the time after which a turn ends if others wait.
const turnLength = 10 * time.Millisecond

// Turn waits for a turn, in the order of the calls. [Turn.End] must be called.
func (c *Cluster) Turn() *Turn {
	c.turns.once.Do(func() { c.turns.free = semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))) })
	out := &Turn{of: &c.turns}
	out.begin()
	return out
}

func (t *Turn) begin() {
	_ = t.of.free.Acquire(context.Background(), 1) // fails only with the context
	t.since = time.Now()
}

// Share waits until others had their turns if this one was long.
func (t *Turn) Share() {
	if time.Since(t.since) >= turnLength {
		t.End()
		t.begin()
	}
}

// End ends the turn.
func (t *Turn) End() { t.of.free.Release(1) }
