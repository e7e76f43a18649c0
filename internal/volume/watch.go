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
	DefaultPollInterval = 2 * time.Second
	DefaultScanInterval = 10 * time.Second
)

// WatchOptions describe a Watcher. The zero value of an interval means its default.
type WatchOptions struct {
	// Dirs are watched with all their visible subfolders. A folder that does not exist is waited for.
	Dirs []string
	// Files are watched through the folder they are in; their subfolders do not matter.
	Files []string
	// Ignore drops events by path: the files this process writes itself.
	Ignore func(path string) bool

	// Delay is the quiet time after which a burst of events is over; 0 acts at once.
	Delay time.Duration
	// MaxDelay bounds the wait when events never stop; 0 means ten times Delay.
	MaxDelay time.Duration
	// Settle is the quiet time after which a kubelet volume that shows one complete
	// version is acted on without waiting for Delay; 0 switches that off.
	Settle time.Duration

	// PollInterval is the time between notifications while the kernel grants no watches.
	PollInterval time.Duration
	// ScanInterval is the time between checks that every watch is still on the folder that has its path.
	ScanInterval time.Duration

	// OnEvent is told about every raw event, OnError about every failure of the watcher; both may be nil.
	OnEvent func()
	OnError func(error)
	Logger  *slog.Logger

	// newBackend is replaced in tests that need a kernel without watches.
	newBackend func() (*fsnotify.Watcher, error)
}

// Watcher tells when watched folders may have changed.
type Watcher struct {
	opts    WatchOptions
	roots   []root
	changes chan struct{}
	watches atomic.Int64

	// Used by NewWatcher and then by Run alone.
	backend  *fsnotify.Watcher // nil while the kernel has none to give
	set      watchSet
	degraded bool            // polling, and said so
	touched  map[string]bool // folders with events in the pending burst
	burst    debounce
}

// NewWatcher sets up the watches, so that no change after it returns is missed.
// It does not fail: without watches Run polls. Run must be called; it frees them.
func NewWatcher(o WatchOptions) *Watcher {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&o.MaxDelay, 10 * o.Delay},
		{&o.PollInterval, DefaultPollInterval},
		{&o.ScanInterval, DefaultScanInterval},
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
	w.sync()
	return w
}

// Changes delivers one value after each burst. At most one is kept while nobody receives.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Watches is the number of folders under watch now.
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
			w.event(e, ok)
		case err, ok := <-failures:
			w.failure(err, ok)
		case <-due.C:
		case <-scan.C:
			if w.sync() {
				w.changed("")
			}
		case <-poll.C:
			if w.degraded {
				w.sync()
				w.notify()
			}
		}
		if w.burst.due(time.Now(), w.allSettled) {
			clear(w.touched)
			w.sync() // before the notification: what is read after it is watched
			w.notify()
		}
	}
}

// arm sets the timer to the moment the burst may be over; without one it stays silent.
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

func (w *Watcher) event(e fsnotify.Event, ok bool) {
	if !ok {
		w.lost()
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

func (w *Watcher) failure(err error, ok bool) {
	if !ok {
		w.lost()
		return
	}
	w.report(err)
	w.opts.Logger.Warn("File watch failed, rescanning everything", "err", err)
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.changed("")
	}
}

// lost handles a backend that closed its channels: the next sync starts a new one.
func (w *Watcher) lost() {
	w.backend, w.set = nil, watchSet{}
	w.sync()
	w.changed("")
}

// changed starts or prolongs a burst. An empty dir means "anything may have changed".
func (w *Watcher) changed(dir string) {
	w.touched[dir] = true
	w.burst.event(time.Now())
}

// allSettled reports whether all folders the burst touched show a complete version.
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
	default: // one is waiting already and will see this change too
	}
}

func (w *Watcher) report(err error) {
	if w.opts.OnError != nil {
		w.opts.OnError(err)
	}
}

// sync makes the set of watches equal to what the folders need now and reports
// whether that took a change. Where the kernel gives no watch, polling takes over.
func (w *Watcher) sync() (moved bool) {
	if w.backend == nil {
		b, err := w.opts.newBackend()
		if err != nil {
			w.degrade(err)
			return false
		}
		w.backend, w.set = b, watchSet{}
	}
	moved, err := w.set.update(w.backend, w.roots)
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

// explain names the kernel limit behind an error text that leads elsewhere.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w (limit of watches: raise sysctl fs.inotify.max_user_watches)", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w (limit of watchers: raise sysctl fs.inotify.max_user_instances)", err)
	}
	return err
}
