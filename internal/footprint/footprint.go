// Package footprint keeps programs small in memory: a sidecar, of which the node pays
// for each, from its start, and the operator once it has settled.
package footprint

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// gcPercent makes the heap grow less between collections than Go's 100; with a heap
	// of one or two megabytes that costs nothing that can be measured.
	gcPercent = 25
	// trimDelay is how long what a scrape or a reload needed is kept.
	trimDelay = 100 * time.Millisecond
)

// Tune sets how eagerly memory is collected, and a memory limit of ratio × the
// container's limit (else the machine's memory). A ratio of 0 sets no limit. What
// GOGC, GOMEMLIMIT or AUTOMEMLIMIT say in the environment wins.
func Tune(ratio float64, log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	Limit(ratio, log)
}

// Limit is the part of Tune about the memory limit; a ratio above 1 counts as 1.
func Limit(ratio float64, log *slog.Logger) {
	if ratio <= 0 {
		return
	}
	limit, err := memlimit.Set(
		memlimit.WithRatio(min(ratio, 1)),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
	)
	if err != nil {
		log.Warn("Memory limit could not be set", "err", err)
		return
	}
	log.Info("Memory limit set", "gomemlimit_bytes", limit)
}

// Container sets a memory limit of ratio × that of the container; none without one.
func Container(ratio float64, log *slog.Logger) {
	if ratio <= 0 {
		return
	}
	limit, err := memlimit.Set(memlimit.WithRatio(min(ratio, 1)), memlimit.WithProvider(memlimit.FromCgroup))
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported), err == nil && limit == math.MaxInt64:
		// there is none
	case err != nil:
		log.Warn("Memory limit could not be set", "err", err)
	default:
		log.Info("Memory limit set", "gomemlimit_bytes", limit)
	}
}

// Release gives back what the last piece of work needed: unused heap, and pages of
// the program file, most of which serve the start only and come back from the page
// cache when they are needed. It takes one or two milliseconds, so call it after
// the work, not in it.
func Release() {
	debug.FreeOSMemory()
	releaseProgram()
}

// Trimmer calls Release a moment after work was done. The zero value is ready.
type Trimmer struct {
	due atomic.Bool
}

// Soon plans a Release, unless one is planned.
func (t *Trimmer) Soon() {
	if t.due.CompareAndSwap(false, true) {
		time.AfterFunc(trimDelay, func() {
			t.due.Store(false)
			Release()
		})
	}
}

// Wrap plans a Release after each request h has answered.
func (t *Trimmer) Wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer t.Soon()
		h.ServeHTTP(w, r)
	})
}
