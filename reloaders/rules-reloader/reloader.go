package rulesreloader

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// Server is a server to keep up to date.
type Server struct {
	// Name identifies it in logs, labels and reports. It has no credentials.
	Name string
	// HTTP configures its endpoint; nil means Signal.
	HTTP   *reload.HTTPOptions
	Signal *reload.SignalOptions
}

// Options configure a [Reloader].
type Options struct {
	Dirs    []string
	Servers []Server
	// Attempts is the maximum for one change; 0 means no limit.
	Attempts int

	// ResyncInterval is the time between steps without an event. It must be more than 0.
	ResyncInterval time.Duration
	// Delay and Settle are quiet times, see volume.WatchOptions.
	Delay, Settle time.Duration
	Backoff       reload.Backoff
	// AfterAttempt is called after each reload attempt; may be nil.
	AfterAttempt func()

	Registry *prometheus.Registry
	Logger   *slog.Logger
}

// Reloader keeps the servers up to date. Call New, then Run.
type Reloader struct {
	opts    Options
	folders volume.Steady
	watcher atomic.Pointer[volume.Watcher] // nil before Run
	metrics *metrics
	loop    *reload.Loop
}

// reuse is how long checksums of unchanged files are reused.
const reuse = time.Minute

// New returns a reloader. It does not access any file.
func New(o Options) *Reloader {
	r := &Reloader{opts: o, folders: volume.Steady{Dirs: o.Dirs, Reader: volume.Reader{Reuse: reuse}, Logger: o.Logger}}
	r.metrics = newMetrics(o.Registry, r.watches)
	r.loop = &reload.Loop{Step: r.step, Interval: o.ResyncInterval, OnStep: r.stepped, Logger: o.Logger}
	for _, s := range o.Servers {
		r.metrics.announce(s.Name)
		r.loop.Targets = append(r.loop.Targets, r.target(s))
	}
	return r
}

func (r *Reloader) target(s Server) *reload.Target {
	trigger, request := r.trigger(s)
	return reload.NewTarget(reload.TargetOptions{
		Name: s.Name, Trigger: trigger, Backoff: r.opts.Backoff, Limit: r.opts.Attempts,
		OnAttempt: func(a reload.Attempt) {
			took := a.Duration
			if s.HTTP != nil {
				took = time.Duration(request.Load())
			}
			r.metrics.attempted(s.Name, a, took)
			if r.opts.AfterAttempt != nil {
				r.opts.AfterAttempt()
			}
		},
		OnExhausted: func() { r.metrics.errors.WithLabelValues(s.Name, reasonExhausted).Inc() },
		Logger:      r.opts.Logger.With("webhook", s.Name),
	})
}

// trigger returns the method to reload a server, and the duration of its last request. An attempt may be shorter, if it
// waits for the response to the request of an earlier one, and longer, with the checks before and after it.
func (r *Reloader) trigger(s Server) (reload.Trigger, *atomic.Int64) {
	var request atomic.Int64
	if s.HTTP == nil {
		return reload.NewSignal(*s.Signal), &request
	}
	o := *s.HTTP
	o.OnResponse = func(status int, took time.Duration) {
		r.metrics.requests.WithLabelValues(s.Name, strconv.Itoa(status)).Inc()
		request.Store(int64(took))
	}
	return reload.NewHTTP(o), &request
}

// Run keeps the servers up to date until ctx ends. It always returns nil: folders that
// cannot be read or do not exist are logged and retried.
func (r *Reloader) Run(ctx context.Context) error {
	watcher := volume.NewWatcher(ctx, volume.WatchOptions{
		Dirs: r.opts.Dirs, Delay: r.opts.Delay, Settle: r.opts.Settle,
		OnError: func(error) { r.metrics.watchErrors.Inc() }, Logger: r.opts.Logger,
	})
	r.watcher.Store(watcher)
	r.loop.Changes = watcher.Changes()
	ctx, stop := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() { watcher.Run(ctx); close(watching) }()
	defer func() { stop(); <-watching }()
	names := make([]string, 0, len(r.opts.Servers))
	for _, s := range r.opts.Servers {
		names = append(names, s.Name)
	}
	r.opts.Logger.Info("Watch started", "volume_dirs", r.opts.Dirs, "webhooks", names)
	return r.loop.Run(ctx)
}

func (r *Reloader) step(ctx context.Context) (reload.Content, error) {
	snap, err := r.folders.Take(ctx)
	return reload.Content{Version: snap.Version, Dirs: snap.Dirs}, err
}

// stepped sets the gauge that is used for alerting if a folder cannot be read, and resets
// it when the folder recovers to the content that a server already runs, because no
// attempt follows then.
func (r *Reloader) stepped(_ bool, err error) {
	if reload.Temporary(err) {
		return
	}
	for i, s := range r.opts.Servers {
		switch {
		case err != nil:
			r.metrics.lastError.WithLabelValues(s.Name).Set(1)
		case r.loop.Targets[i].State().Live:
			r.metrics.lastError.WithLabelValues(s.Name).Set(0)
		}
	}
}

func (r *Reloader) watches() float64 {
	if w := r.watcher.Load(); w != nil {
		return float64(w.Watches())
	}
	return 0
}

// Handler serves metrics at telemetryPath, the endpoints of reload.Loop, and a page that
// links to the metrics at every other path.
func (r *Reloader) Handler(telemetryPath string) http.Handler {
	mux := http.NewServeMux()
	r.loop.Register(mux)
	mux.Handle(telemetryPath, promhttp.InstrumentMetricHandler(r.opts.Registry,
		httpserver.LimitMetrics(promhttp.HandlerFor(r.opts.Registry, promhttp.HandlerOpts{}))))
	if telemetryPath == "/" {
		return mux
	}
	link := html.EscapeString((&url.URL{Path: telemetryPath}).EscapedPath())
	page := fmt.Sprintf("<html><head><title>Rules reloader</title></head><body>\n<h1>Rules reloader</h1>\n"+
		"<p><a href=%q>Metrics</a></p>\n<p><a href=\"/api/v1/applied\">What each server runs</a></p>\n</body></html>\n", link)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	})
	return mux
}
