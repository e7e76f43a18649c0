package informer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Reads logs failing lists and watches of the stores, so that no controller waits or uses
// stale objects silently. A nil Reads logs nothing.
type Reads struct {
	log *slog.Logger

	mu     sync.Mutex
	all    []*read
	logged []string // the failing reads as last logged
}

// read is the list and watch of one kind of object in one or all namespaces.
type read struct {
	of        *Reads
	what      string // for example "services in namespace demo"
	namespace string // "" means all
	synced    func() bool
	refusals  refusals

	// The fields below are guarded by of.mu.
	running bool
	err     error     // of the last call
	since   time.Time // time when Run noticed the failure; zero: none
}

const (
	// readPatience is how long a read may fail before this is logged, because lists take
	// time and API servers restart.
	readPatience = 10 * time.Second
	readPeriod   = 5 * time.Second
	// readNames is the maximum number of reads in one log line.
	readNames = 10
)

// NewReads returns a Reads that logs to log.
func NewReads(log *slog.Logger) *Reads { return &Reads{log: log} }

// add adds a read; it is checked once it was started.
func (r *Reads) add(resource, namespace string, synced func() bool) *read {
	what := resource
	if namespace != "" {
		what += " in namespace " + namespace
	}
	out := &read{of: r, what: what, namespace: namespace, synced: synced}
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, out)
	}
	return out
}

// logger returns a logger for one read.
func (r *read) logger() *slog.Logger {
	if r.of == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.of.log.With("objects", r.what)
}

func (r *read) start() {
	if r.of == nil {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.running = true
}

// result records the result of an API call. verb is "list" or "watch".
func (r *read) result(verb string, err error) {
	r.refusals.record(verb, err)
	if r.of == nil {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.err = err
}

// Run logs failing reads until the context ends.
func (r *Reads) Run(ctx context.Context) {
	tick := time.NewTicker(readPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			r.report(now)
		}
	}
}

// report logs all failing reads when a new one fails, and logs once when all succeed again.
func (r *Reads) report(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names, waiting, outdated []string
	for _, one := range r.all {
		unsynced := one.running && !one.synced()
		if !unsynced && one.err == nil {
			one.since = time.Time{}
			continue
		}
		if one.since.IsZero() {
			one.since = now
		}
		if now.Sub(one.since) < readPatience {
			continue
		}
		names = append(names, one.what)
		switch {
		case !unsynced:
			outdated = append(outdated, fmt.Sprintf("%s: %v", one.what, one.err))
		case one.err != nil:
			waiting = append(waiting, fmt.Sprintf("%s: %v", one.what, one.err))
		default:
			waiting = append(waiting, one.what+": no answer yet")
		}
	}
	joined := slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(r.logged, name) })
	if len(waiting) > 0 && joined {
		r.log.Warn("controller waits for the initial list of objects, retrying", "waiting_for", shortList(waiting))
	}
	if len(outdated) > 0 && joined {
		r.log.Warn("list or watch failed, changes are not seen, retrying", "not_read", shortList(outdated))
	}
	if len(names) == 0 && len(r.logged) > 0 {
		r.log.Info("all lists and watches work again")
	}
	r.logged = names
}

func shortList(texts []string) string {
	if more := len(texts) - readNames; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:readNames], "; "), more)
	}
	return strings.Join(texts, "; ")
}
