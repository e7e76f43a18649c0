// Package inflight limits the memory of concurrent work such as reviews, conversions, previews
// and large responses, so that all of it fits into the memory of the process. Begin at
// [Budget.Take]:
//
//	release, err := budget.Take(ctx, 4*int64(len(body)), time.Second)
//	if err != nil {
//		return err // *BusyError: respond with 503 and Retry-After
//	}
//	defer release()
//
// Callers are served in order, so that small requests cannot starve a large one.
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

// unlimited is the assumed memory of a process without a limit.
const unlimited = 512 << 20

// Memory returns the memory limit of the process: GOMEMLIMIT, or the one derived from the limit
// of the container.
func Memory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	return unlimited
}

// Budget is a limited number of in-flight bytes.
type Budget struct {
	size int64
	free *semaphore.Weighted
}

// New returns a budget of size bytes.
func New(size int64) *Budget {
	size = max(size, 1)
	return &Budget{size: size, free: semaphore.NewWeighted(size)}
}

// Size returns the size of the budget in bytes.
func (b *Budget) Size() int64 { return b.size }

// Process returns the budget of the whole process: a quarter of its memory limit at the time of
// the first call.
var Process = sync.OnceValue(func() *Budget { return New(Memory() / 4) })

// BusyError means that a budget was exhausted for too long.
type BusyError struct{ Waited time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too much is being worked on: waited %s for memory; try again", e.Waited)
}

// Take acquires bytes from the budget and waits up to patience until they are available. Requests
// above the budget's size take all of it. release is idempotent.
//
// Errors: *[BusyError]; the error of ctx.
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
