// Package inflight weighs what is worked on at a time, in bytes, so that all of it together
// fits the memory of the process: reviews, conversions, previews, large answers.
//
//	release, err := budget.Take(ctx, 4*int64(len(body)), time.Second)
//	if err != nil {
//		return err // *BusyError: to be answered with 503 and Retry-After
//	}
//	defer release()
//
// Who waits is served in order, so that something large is not overtaken for ever.
package inflight

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// unlimited is the memory that is assumed of a process without a limit.
const unlimited = 512 << 20

// Memory returns the memory limit of the process: what GOMEMLIMIT says, or what was set from
// that of the container.
func Memory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return unlimited
}

// Budget is a number of bytes that may be in flight.
type Budget struct {
	size int64
	free *semaphore.Weighted
}

// New returns a budget of some bytes.
func New(size int64) *Budget {
	size = max(size, 1)
	return &Budget{size: size, free: semaphore.NewWeighted(size)}
}

// Size returns how many bytes there are in all.
func (b *Budget) Size() int64 { return b.size }

// Process returns the budget of the whole process: a quarter of its memory limit, as it is at the
// first call.
var Process = sync.OnceValue(func() *Budget { return New(Memory() / 4) })

// BusyError says that a budget was used up for too long.
type BusyError struct{ Waited time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too much is being worked on: waited %s for memory; try again", e.Waited)
}

// Take waits at most for a time until there is room for some bytes, and takes it. More than
// the whole budget takes all of it. release may be called more than once.
//
// Errors: *[BusyError]; that of ctx.
func (b *Budget) Take(ctx context.Context, bytes int64, patience time.Duration) (release func(), err error) {
	bytes = min(max(bytes, 0), b.size)
	if !b.free.TryAcquire(bytes) {
		waiting, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := b.free.Acquire(waiting, bytes); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &BusyError{Waited: patience}
		}
	}
	return sync.OnceFunc(func() { b.free.Release(bytes) }), nil
}
