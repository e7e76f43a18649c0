package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Defaults of WatchOptions.
const (
	DefaultSettle       = 20 * time.Millisecond
	defaultPollInterval = 2 * time.Second
	defaultScanInterval = 10 * time.Second
)

// WatchOptions configure a [Watcher]. A zero interval means its default.
type WatchOptions struct {
	// Dirs are watched with all their visible subfolders. They need not exist yet.
	Dirs []string
	// Files are watched through their folder, without its subfolders.
	Files []string
	// Ignore reports whether to drop events of a path, for files that this process itself writes.
	Ignore func(path string) bool

	// Delay is the quiet time after which a burst of events is over; 0 means immediately.
	Delay time.Duration
	// MaxDelay limits the wait during endless events; 0 means ten times Delay.
	MaxDelay time.Duration
	// Settle is the shorter quiet time for a kubelet volume that shows one complete version; 0 disables
	// it.
	Settle time.Duration

	// PollInterval is the time between notifications while watches are not available.
	PollInterval time.Duration
	// ScanInterval is the time between checks that each watch still refers to the folder at its path.
	ScanInterval time.Duration

	// OnEvent is called for every raw event, OnError for every failure of the watcher. Both may be nil.
	OnEvent func()
	OnError func(error)
	Logger  *slog.Logger

	// newBackend is replaced in tests that simulate a kernel without watches.
	newBackend func() (*fsnotify.Watcher, error)
}

// Watcher sends a notification when watched folders may have changed.
type Watcher struct {
	opts    WatchOptions
	roots   []root
	changes chan struct{}
	watches atomic.Int64

	// Used by NewWatcher and after it only by Run.
	backend  *fsnotify.Watcher // nil while the kernel has no free instance
	set      watchSet
	degraded bool            // polling, and logged
	touched  map[string]bool // folders with events in the pending burst
	burst    debounce
}

// NewWatcher sets up the watches. Later changes are not missed. It does not fail: Run falls back to
// polling. Run must be called, because it releases the watches. The end of ctx interrupts the search for folders.
func NewWatcher(ctx context.Context, o WatchOptions) *Watcher {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&o.MaxDelay, 10 * o.Delay},
		{&o.PollInterval, defaultPollInterval},
		{&o.ScanInterval, defaultScanInterval},
	} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.newBackend == nil {
		o.newBackend = fsnotify.NewWatcher
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		opts:    o,
		roots:   rootsOf(o.Dirs, o.Files),
		changes: make(chan struct{}, 1),
		touched: map[string]bool{},
		burst:   debounce{delay: o.Delay, settle: o.Settle, max: o.MaxDelay},
	}
	w.sync(ctx)
	return w
}

// Changes returns the channel of notifications, one after each burst. At most one is pending.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Watches returns the current number of watched folders.
func (w *Watcher) Watches() int { return int(w.watches.Load()) }

// Run turns events into notifications until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	defer func() {
		if w.backend != nil {
			w.backend.Close()
		}
	}()
	scan := time.NewTicker(w.opts.ScanInterval)
	defer scan.Stop()
	poll := time.NewTicker(w.opts.PollInterval)
	defer poll.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		w.arm(due)
		events, failures := w.channels()
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			w.event(ctx, e, ok)
		case err, ok := <-failures:
			w.failure(ctx, err, ok)
		case <-due.C:
		case <-scan.C:
			if w.sync(ctx) {
				w.changed("")
			}
		case <-poll.C:
			if w.degraded {
				w.sync(ctx)
				w.notify()
			}
		}
		if w.burst.due(time.Now(), w.allSettled) {
			clear(w.touched)
			w.sync(ctx) // before the notification, so that changes after the receiver's read are not missed
			w.notify()
		}
	}
}

// arm sets the timer to the time at which the burst may be over, and stops it if none is pending.
func (w *Watcher) arm(t *time.Timer) {
	if !w.burst.pending() {
		t.Stop()
		return
	}
	t.Reset(max(0, time.Until(w.burst.next())))
}

func (w *Watcher) channels() (<-chan fsnotify.Event, <-chan error) {
	if w.backend == nil {
		return nil, nil
	}
	return w.backend.Events, w.backend.Errors
}

func (w *Watcher) event(ctx context.Context, e fsnotify.Event, ok bool) {
	if !ok {
		w.lost(ctx)
		return
	}
	if w.opts.OnEvent != nil {
		w.opts.OnEvent()
	}
	if w.opts.Ignore != nil && w.opts.Ignore(e.Name) {
		return
	}
	dir := filepath.Dir(e.Name)
	if w.set.has(e.Name) { // the watched folder itself was removed, moved or had its mode changed
		dir = e.Name
	}
	if w.set.relevant(dir, filepath.Base(e.Name)) {
		w.changed(dir)
	}
}

func (w *Watcher) failure(ctx context.Context, err error, ok bool) {
	if !ok {
		w.lost(ctx)
		return
	}
	w.report(err)
	w.opts.Logger.Warn("File watch failed, rescanning everything", "err", err)
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.changed("")
	}
}

// lost handles a backend that closed its channels. The next sync creates a new one.
func (w *Watcher) lost(ctx context.Context) {
	w.backend, w.set = nil, watchSet{}
	w.sync(ctx)
	w.changed("")
}

// changed starts or extends a burst. An empty dir means that anything may have changed.
func (w *Watcher) changed(dir string) {
	w.touched[dir] = true
	w.burst.event(time.Now())
}

// allSettled reports whether all folders of the burst show a complete version.
func (w *Watcher) allSettled() bool {
	for dir := range w.touched {
		if !settled(volumeOf(dir)) {
			return false
		}
	}
	return true
}

func (w *Watcher) notify() {
	select {
	case w.changes <- struct{}{}:
	default: // the pending notification covers this change too
	}
}

func (w *Watcher) report(err error) {
	if w.opts.OnError != nil {
		w.opts.OnError(err)
	}
}

// sync adjusts the watches to the folders that exist now, and reports whether any changed. If the kernel
// has no watch left, it falls back to polling.
func (w *Watcher) sync(ctx context.Context) (moved bool) {
	if w.backend == nil {
		b, err := w.opts.newBackend()
		if err != nil {
			w.degrade(err)
			return false
		}
		w.backend, w.set = b, watchSet{}
	}
	moved, err := w.set.update(ctx, w.backend, w.roots)
	w.watches.Store(int64(w.set.folders()))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		w.degrade(err)
	case w.degraded:
		w.degraded = false
		w.opts.Logger.Info("File watch restored, polling stopped")
	}
	return moved
}

func (w *Watcher) degrade(err error) {
	w.report(err)
	if !w.degraded {
		w.opts.Logger.Warn("Folder cannot be watched, polling instead",
			"err", explain(err), "poll_interval", w.opts.PollInterval.String())
	}
	w.degraded = true
}

// explain adds the kernel limit to an error whose text is misleading.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w (limit of watches: raise sysctl fs.inotify.max_user_watches)", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w (limit of watchers: raise sysctl fs.inotify.max_user_instances)", err)
	}
	return err
}
