package footprint

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// settledGrowth is how much the heap may grow between collections once a
	// program has settled, in bytes. A change then makes little garbage, so that a
	// heap smaller than with Go's default costs next to no CPU. While it starts,
	// the default is the better bargain.
	settledGrowth = 32 << 20
	// The growth is bounded in percent of what is alive.
	leastPercent, mostPercent = 40, 200
	// tunePeriod is how often the growth is looked at: what is alive changes slowly.
	tunePeriod = time.Minute
)

// Settle gives back what the start needed and keeps the heap smaller from
// now on, until the context ends. GOGC in the environment wins.
func Settle(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		Release()
		return
	}
	Release() // what is alive is known after it
	debug.SetGCPercent(collectAt(alive()))
	tick := time.NewTicker(tunePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.SetGCPercent(collectAt(alive()))
		}
	}
}

// alive is what the last collection left, in bytes.
func alive() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// collectAt is the growth in percent at which the next collection should be.
func collectAt(alive uint64) int {
	if alive == 0 {
		return mostPercent
	}
	return int(min(mostPercent, max(leastPercent, settledGrowth*100/alive)))
}
