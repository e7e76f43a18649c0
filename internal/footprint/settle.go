package footprint

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// settledGrowth is the target for heap growth between collections after startup, in
	// bytes. A change then allocates little, so that a heap smaller than with Go's
	// default costs almost no CPU. During startup the default is the better trade-off.
	settledGrowth = 32 << 20
	// Bounds of the growth, in percent of the live heap.
	leastPercent, mostPercent = 40, 200
	// mostIdle is the size of the free heap that the next changes may need, in bytes. More is
	// returned to the kernel.
	mostIdle = settledGrowth + 8<<20
	// tunePeriod is the interval between adjustments of the growth. The live heap changes
	// slowly.
	tunePeriod = time.Minute
)

// Settle releases the memory of the startup, keeps the heap smaller until ctx ends, and releases
// what a burst of changes left.
// GOGC in the environment takes precedence.
func Settle(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		Release()
		return
	}
	Release() // runs a collection, which alive needs
	debug.SetGCPercent(collectAt(alive()))
	tick := time.NewTicker(tunePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.SetGCPercent(collectAt(alive()))
			if idle() > mostIdle {
				Release()
			}
		}
	}
}

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

// collectAt returns the GC percentage for a live heap of this many bytes.
func collectAt(alive uint64) int {
	if alive == 0 {
		return mostPercent
	}
	return int(min(mostPercent, max(leastPercent, settledGrowth*100/alive)))
}
