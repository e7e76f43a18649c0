package configreloader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/render"
)

// Options configure a [Reloader].
type Options struct {
	Files []render.File
	Dirs  []render.Dir
	// WatchedDirs are hashed and watched, except for the inputs and outputs above.
	WatchedDirs []string

	Env    []string // "NAME=value", see WithOrdinal
	Syntax expand.Syntax
	// Budget is render.Options.Budget.
	Budget int64

	// WatchInterval is the time between steps without an event. It must be more than 0.
	WatchInterval time.Duration
	// Delay and Settle are quiet times, see volume.WatchOptions.
	Delay, Settle time.Duration

	Trigger reload.Trigger
	// TargetName identifies the server in reports, without credentials; Method is "http" or "signal".
	TargetName, Method string
	Backoff            reload.Backoff
	// AfterAttempt is called after each reload attempt; may be nil.
	AfterAttempt func()

	Registerer prometheus.Registerer
	Logger     *slog.Logger
}

// Reloader renders the configuration and keeps the server up to date. Call New, then Once or Run.
type Reloader struct {
	opts     Options
	renderer *render.Renderer
	folders  volume.Steady
	watcher  atomic.Pointer[volume.Watcher] // nil before Run
	metrics  *metrics
	target   *reload.Target
	loop     *reload.Loop
	// mixedSince is the time at which inconsistent parts were first seen, mixedLogged the time of the last log message
	// about them. Both are zero if the parts are consistent.
	mixedSince, mixedLogged time.Time

	warned map[string]string // input -> hash of the content whose unset variables were logged
}

// New returns a reloader. It does not access any file.
func New(o Options) *Reloader {
	r := &Reloader{
		opts: o,
		renderer: render.New(render.Options{
			Files: o.Files, Dirs: o.Dirs, Expander: expand.New(o.Syntax, o.Env), Budget: o.Budget,
		}),
		warned: map[string]string{},
	}
	r.folders = volume.Steady{
		Dirs: o.WatchedDirs, Logger: o.Logger,
		Reader: volume.Reader{Skip: r.renderer.Handles},
	}
	r.metrics = newMetrics(o.Registerer, o.Method, r.watches)
	r.target = reload.NewTarget(reload.TargetOptions{
		Name: o.TargetName, Trigger: o.Trigger, Backoff: o.Backoff,
		OnAttempt: r.attempted, Logger: o.Logger, SuccessAttrs: o.paths(),
	})
	r.loop = &reload.Loop{
		Step: r.step, Interval: o.WatchInterval, Targets: []*reload.Target{r.target},
		FirstMustWork: true, OnStep: r.stepped, Logger: o.Logger,
	}
	return r
}

// Once renders all outputs and checks that all watched folders exist. It sends no request and uses no file watches.
func (r *Reloader) Once(ctx context.Context) error {
	r.folders.MustExist = true
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		_, err := r.step(ctx)
		if !reload.Temporary(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

// Run keeps the outputs and the server up to date until ctx ends.
//
// Errors: the inputs are unusable at the start. Later failures are logged, counted and retried.
func (r *Reloader) Run(ctx context.Context) error {
	if len(r.opts.inputs())+len(r.opts.Dirs)+len(r.opts.WatchedDirs) == 0 {
		r.opts.Logger.Info("Nothing to watch, idling: neither --config-file, --config-dir nor --watched-dir is set")
		<-ctx.Done()
		return nil
	}
	watcher := volume.NewWatcher(ctx, volume.WatchOptions{
		Dirs: r.opts.dirs(), Files: r.opts.inputs(), Ignore: r.renderer.Owns,
		Delay: r.opts.Delay, Settle: r.opts.Settle,
		OnEvent: r.metrics.watchEvents.Inc,
		OnError: func(error) { r.metrics.watchErrs.Inc() },
		Logger:  r.opts.Logger,
	})
	r.watcher.Store(watcher)
	r.loop.Changes = watcher.Changes()
	ctx, stop := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() { watcher.Run(ctx); close(watching) }()
	defer func() { stop(); <-watching }()
	r.opts.Logger.Info("Watch started", append([]any{"method", r.opts.Method, "target", r.opts.TargetName}, r.opts.paths()...)...)
	return r.loop.Run(ctx)
}

// Register adds the endpoints of reload.Loop.
func (r *Reloader) Register(mux *http.ServeMux) { r.loop.Register(mux) }

// step updates the outputs and returns the content on disk.
func (r *Reloader) step(ctx context.Context) (reload.Content, error) {
	results, err := r.renderer.Render(ctx)
	r.warnMixed(err)
	if err != nil {
		return reload.Content{}, err
	}
	r.countUnset(results)
	snap, err := r.folders.Take(ctx)
	if err != nil {
		return reload.Content{}, err
	}
	return content(results, snap), nil
}

// mixedPatience is the time for which the parts of a configuration may be inconsistent before a warning is logged.
// The kubelet refreshes everything within two minutes, and usually in less than one second.
const mixedPatience = 10 * time.Second

// warnMixed logs a warning, and repeats it, while the parts stay inconsistent.
func (r *Reloader) warnMixed(err error) {
	mixed, ok := errors.AsType[*render.MixedError](err)
	now := time.Now()
	switch {
	case !ok && !r.mixedSince.IsZero():
		if r.mixedLogged.After(r.mixedSince) && err == nil {
			r.opts.Logger.Info("Configuration parts are consistent again", "after", now.Sub(r.mixedSince).Round(time.Second).String())
		}
		r.mixedSince, r.mixedLogged = time.Time{}, time.Time{}
	case !ok:
	case r.mixedSince.IsZero():
		r.mixedSince, r.mixedLogged = now, now
		r.opts.Logger.Debug("Waiting for a consistent set of configuration parts", "files", mixed.Files)
	case now.Sub(r.mixedLogged) >= mixedPatience:
		r.mixedLogged = now
		r.opts.Logger.Warn("Still waiting for a consistent set of configuration parts, keeping the last good output",
			"files", mixed.Files, "waiting", now.Sub(r.mixedSince).Round(time.Second).String())
	}
}

// content returns the content that the server reads. Equal names and bytes give equal versions.
func content(results []render.Result, snap volume.Snapshot) reload.Content {
	c := reload.Content{Dirs: slices.Clone(snap.Dirs)}
	sum := sha256.New()
	for _, res := range results {
		c.Files = append(c.Files, reload.FileSum{
			Input: res.Input, InputSHA256: res.InputSHA256, Output: res.Output, OutputSHA256: res.OutputSHA256,
		})
		fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", res.Input, res.Output, res.Content())
		if res.Rules != nil {
			c.Dirs = append(c.Dirs, *res.Rules)
			fmt.Fprintf(sum, "%s\x00%s\x00", res.Rules.Path, res.Rules.SHA256)
		}
	}
	fmt.Fprint(sum, snap.Version)
	c.Version = hex.EncodeToString(sum.Sum(nil))
	return c
}

// countUnset counts references to unset variables and logs them once per content of a file.
func (r *Reloader) countUnset(results []render.Result) {
	total := 0
	for _, res := range results {
		total += res.Unset.Total()
		if res.Unset.Total() == 0 || r.warned[res.Input] == res.InputSHA256 {
			continue
		}
		r.warned[res.Input] = res.InputSHA256
		r.opts.Logger.Warn("Configuration refers to unset variables, leaving the references unchanged",
			"config", res.Input, "variables", res.Unset.Names(), "references", res.Unset.Total())
	}
	r.metrics.unset.Set(float64(total))
}

// stepped counts a step. A failure sets the gauge that is used for alerting. stepped resets it when the inputs
// recover to the content that the server already runs, because no attempt follows then. A failed retry counts as
// a step too: otherwise there would be more failures than steps.
func (r *Reloader) stepped(caused bool, err error) {
	if caused || err != nil && !reload.Temporary(err) {
		r.metrics.applies.Inc()
	}
	switch {
	case err == nil:
		if r.target.State().Live {
			r.metrics.lastOK.Set(1)
		}
	case reload.Temporary(err):
	default:
		r.metrics.appliesFailed.Inc()
		r.metrics.lastOK.Set(0)
	}
}

func (r *Reloader) attempted(a reload.Attempt) {
	r.metrics.reloads.Inc()
	if r.opts.AfterAttempt != nil {
		defer r.opts.AfterAttempt()
	}
	if a.Err != nil {
		r.metrics.reloadsFailed.Inc()
		r.metrics.lastOK.Set(0)
		return
	}
	r.metrics.lastOK.Set(1)
	r.metrics.lastOKTime.SetToCurrentTime()
}

// watches returns the number of watched folders plus the number of configuration files.
func (r *Reloader) watches() float64 {
	w := r.watcher.Load()
	if w == nil {
		return 0
	}
	return float64(w.Watches() + len(r.opts.inputs()))
}

func (o Options) inputs() (paths []string) {
	for _, f := range o.Files {
		paths = append(paths, f.Input)
	}
	return paths
}

// dirs returns the folders that are watched recursively.
func (o Options) dirs() []string {
	dirs := append([]string(nil), o.WatchedDirs...)
	for _, d := range o.Dirs {
		dirs = append(dirs, d.Input)
	}
	return dirs
}

// paths returns the paths as log attributes.
func (o Options) paths() (attrs []any) {
	for _, f := range o.Files {
		attrs = append(attrs, "config", f.Input)
		if f.Output != "" {
			attrs = append(attrs, "output", f.Output)
		}
	}
	for _, d := range o.Dirs {
		attrs = append(attrs, "config_dir", d.Input, "output_dir", d.Output)
	}
	if len(o.WatchedDirs) > 0 {
		attrs = append(attrs, "watched_dirs", o.WatchedDirs)
	}
	return attrs
}
