// Command config-reloader writes the configuration file of a server and reloads the
// server. It runs as a sidecar, as an init container (--watch-interval=0), or standalone.
//
// Exit codes: 0 after a signal, in init mode, and after help or version; 1 if the inputs
// are invalid at startup, the port is in use, or the log flags are invalid; 2 for other
// invalid flags.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/options"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	configreloader "github.com/firekeeper-dev/firekeeper/reloaders/config-reloader"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/targets"
)

const program = "prometheus-config-reloader"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the program and returns the exit code.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	var o Options
	app := kingpin.New(program, "Writes the configuration file of a server and makes the server reload it.")
	o.Bind(app)
	helped, err := options.Parse(app, args, stderr)
	if helped || err == nil && o.General.PrintVersion(stdout, program) {
		return 0
	}
	if err == nil {
		if code, asked := o.General.Probe(ctx, stderr); asked {
			return code
		}
		err = o.Validate()
	}
	if err != nil {
		fmt.Fprintf(stdout, "%s: error: %v, try --help\n", program, err)
		return 2
	}
	log, err := logging.New(stdout, o.General.Log)
	if err != nil {
		fmt.Fprintf(stderr, "%s: error: %v\n", program, err)
		return 1
	}
	if err := httpserver.ValidateWebConfig(o.General.WebConfigFile); err != nil {
		log.Error("Invalid --web-config-file", "err", err)
		return 2
	}
	log.Info("Starting "+program, "version", version.Info(), "build_context", version.Context())
	footprint.Tune(o.General.MemoryRatio, log)
	if err := serve(ctx, &o, env, log); err != nil {
		log.Error("Stopped", "err", err)
		return 1
	}
	log.Info("Stopped")
	return 0
}

// serve runs the reloader and, if enabled, the HTTP server, until ctx ends or one of them
// fails.
func serve(ctx context.Context, o *Options, env []string, log *slog.Logger) error {
	client, err := o.client()
	if err != nil {
		return err
	}
	trigger, name := o.trigger(client)
	reg := prometheus.NewRegistry()
	var trim footprint.Trimmer
	trim.Soon() // startup needs more memory than normal operation
	r := configreloader.New(configreloader.Options{
		Files: o.files(), Dirs: o.dirs(), WatchedDirs: o.WatchedDirs,
		Budget: o.budget(footprint.ContainerLimit()),
		Env:    configreloader.WithOrdinal(env, o.OrdinalFrom), Syntax: expand.Syntax(o.Syntax),
		WatchInterval: o.WatchInterval, Delay: o.Delay, Settle: o.settle(),
		Trigger: trigger, TargetName: name, Method: o.Method,
		Backoff:      reload.Backoff{Base: o.Retry, Max: retryMax},
		AfterAttempt: trim.Soon, Registerer: reg, Logger: log,
	})
	if o.once() {
		return once(ctx, o, r)
	}
	work, err := o.Targets.with(r.Run, targets.Options{
		Limits: targets.LimitsFor(footprint.ContainerLimit()), OnUpdate: trim.Soon, Registerer: reg, Logger: log,
		Prometheus: targets.Prometheus{Targets: reload.Derive(o.server(), "/api/v1/targets"), Query: reload.Derive(o.server(), "/api/v1/query"), Metrics: reload.Derive(o.server(), "/metrics"), Client: client},
	})
	if err != nil {
		return err
	}
	if o.ListenAddress == "" {
		return work(ctx)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", httpserver.Metrics(reg))
	r.Register(mux)
	server, err := httpserver.Listen(httpserver.Options{
		Address: o.ListenAddress, Handler: trim.Wrap(mux), WebConfigFile: o.General.WebConfigFile, Sidecar: true, Logger: log,
	})
	if err != nil {
		return fmt.Errorf("--listen-address=%s: %w", o.ListenAddress, err)
	}
	return httpserver.ServeWith(ctx, server, work)
}

// once runs in init mode. Without a configuration there is nothing to write: it returns
// if there are only folders to watch, and otherwise waits like the sidecar.
func once(ctx context.Context, o *Options, r *configreloader.Reloader) error {
	if len(o.files())+len(o.dirs()) > 0 {
		err := r.Once(ctx)
		if ctx.Err() != nil {
			return nil // by a signal, which is no failure of the pod
		}
		return err
	}
	if len(o.WatchedDirs) > 0 {
		return nil
	}
	return r.Run(ctx)
}
