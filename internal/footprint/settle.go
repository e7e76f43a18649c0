package footprint

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// settledGrowth is the target for heap growth between collections, in bytes. After startup, a
	// change allocates little, so that a heap smaller than with Go's default costs almost no CPU. During
	// startup, it lowers the highest point, and garbage of that time scatters what stays in memory.
	settledGrowth = 32 << 20
	// Bounds of the growth, in percent of the live heap.
	startPercent, leastPercent, mostPercent = 50, 40, 200
	// mostIdle is the size of the free heap that the next changes may need, in bytes. More is
	// returned to the kernel.
	mostIdle = settledGrowth + 8<<20
	// quietIdle is the same when there are few changes: at most quietCollections in a [tunePeriod].
	quietIdle        = 4 << 20
	quietCollections = 4
	// tunePeriod is the interval between adjustments of the growth. The live heap changes
	// slowly.
	tunePeriod = time.Minute
	// startPeriod is the same during startup, while the live heap grows.
	startPeriod = 100 * time.Millisecond
)

// startup is the pacing of collections until the program has settled.
var startup struct {
	mu    sync.Mutex
	ended bool
}

// pace adjusts the growth of the heap. It returns false after startup.
func pace() bool {
	startup.mu.Lock()
	defer startup.mu.Unlock()
	if !startup.ended {
		debug.SetGCPercent(max(startPercent, collectAt(alive())))
	}
	return !startup.ended
}

// Start keeps the heap smaller until [Settle] is called or ctx ends, and returns.
// GOGC in the environment takes precedence.
func Start(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	pace()
	go func() {
		tick := time.NewTicker(startPeriod)
		defer tick.Stop()
		for pace() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

// Settle releases the memory of the startup, keeps the heap smaller until ctx ends, and releases
// what changes left: after a burst, and while there are few of them.
// GOGC in the environment takes precedence.
func Settle(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		release()
		return
	}
	startup.mu.Lock()
	startup.ended = true
	startup.mu.Unlock()
	release() // runs a collection, which alive needs
	debug.SetGCPercent(collectAt(alive()))
	tick := time.NewTicker(tunePeriod)
	defer tick.Stop()
	before := collections()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.SetGCPercent(collectAt(alive()))
			before = releaseIdle(before)
		}
	}
}

// followPeriod is the interval between adjustments in a program whose live heap grows with its requests.
const followPeriod = time.Second

// Follow keeps the heap small until ctx ends, in a server whose startup has no defined end: the growth between
// collections follows the live heap, and free memory is released once a minute. GOGC in the environment takes
// precedence.
func Follow(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	tick := time.NewTicker(followPeriod)
	defer tick.Stop()
	percent, before, since := 0, collections(), time.Now()
	for {
		if now := collectAt(alive()); now != percent {
			percent = now
			debug.SetGCPercent(percent)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(since) >= tunePeriod {
			before, since = releaseIdle(before), time.Now()
		}
	}
}

// releaseIdle releases free heap that is not needed after a period in which the number of collections was before at the
// start, and returns the number at the end.
func releaseIdle(before uint64) uint64 {
	now := collections()
	if idle() > mostKept(now-before) {
		release() // its collection is not an automatic one
	}
	return now
}

// mostKept returns the size of the free heap to keep, for a number of collections in the last period.
func mostKept(collections uint64) uint64 {
	if collections <= quietCollections {
		return quietIdle
	}
	return mostIdle
}

// collections returns the number of collections that allocations have triggered since the start.
func collections() uint64 { return read("/gc/cycles/automatic:gc-cycles") }

// alive returns the size of the live heap at the last collection, in bytes.
func alive() uint64 { return read("/gc/heap/live:bytes") }

// idle returns the size of the free heap that was not returned to the kernel, in bytes. The runtime
// returns it slowly after a burst, and not all of it.
func idle() uint64 { return read("/memory/classes/heap/free:bytes") }

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// collectAt returns the GC percentage for a live heap of this many bytes after startup.
func collectAt(alive uint64) int {
	if alive == 0 {
		return mostPercent
	}
	return int(min(mostPercent, max(leastPercent, settledGrowth*100/alive)))
}
