// Package footprint keeps a sidecar small: it sits beside every server, and the
// node pays for each of them.
package footprint

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// gcPercent makes the heap grow less between collections than Go's 100; with a heap
// of one or two megabytes that costs nothing that can be measured.
const gcPercent = 25

// Tune sets how eagerly memory is collected, and a memory limit of ratio × the
// container's limit (else the machine's memory). A ratio of 0 sets no limit. What
// GOGC, GOMEMLIMIT or AUTOMEMLIMIT say in the environment wins.
func Tune(ratio float64, log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if ratio = min(max(ratio, 0), 1); ratio == 0 {
		return
	}
	limit, err := memlimit.Set(
		memlimit.WithRatio(ratio),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
	)
	if err != nil {
		log.Warn("Memory limit could not be set", "err", err)
		return
	}
	log.Info("Memory limit set", "gomemlimit_bytes", fmt.Sprint(limit))
}

// Release gives back what the last piece of work needed. It takes about a
// millisecond, so call it after the work, not in it.
func Release() { debug.FreeOSMemory() }
