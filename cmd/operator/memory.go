package main

import (
	"os"
	"runtime/debug"

	"github.com/firekeeper-dev/firekeeper/internal/reload/footprint"
)

// settledPercent is how much the heap may grow between collections once the
// operator has settled. A change then makes little garbage, so that a smaller
// heap costs next to no CPU; while it starts, Go's 100 is the better bargain.
const settledPercent = 50

// settleMemory gives back what the start needed and keeps the heap smaller from
// now on. GOGC in the environment wins.
func settleMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(settledPercent)
	}
	footprint.Release()
}
