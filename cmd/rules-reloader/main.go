// Command rules-reloader reloads servers when mounted folders change, as a sidecar or
// standalone. Flags may begin with one dash or two.
//
// Exit codes: 0 after a signal, help or version; 1 if a required flag is missing, the
// port is in use, or the log flags are invalid; 2 for other invalid flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	rulesreloader "github.com/firekeeper-dev/firekeeper/reloaders/rules-reloader"
)

const program = "rules-reloader"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o Options
	app := kingpin.New(program, "Reloads servers when mounted folders change.")
	o.Bind(app)
	helped, err := options.Parse(app, options.GoStyle(app, args), stderr)
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
		fmt.Fprintf(stderr, "%s: error: %v\n\n", program, err)
		app.Usage(nil)
		if _, missing := errors.AsType[errMissing](err); missing {
			return 1
		}
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
	if err := serve(ctx, &o, log); err != nil {
		log.Error("Stopped", "err", err)
		return 1
	}
	log.Info("Stopped")
	return 0
}

// serve runs the reloader and, if enabled, the HTTP server, until ctx ends or one of them
// fails.
func serve(ctx context.Context, o *Options, log *slog.Logger) error {
	servers, err := o.servers()
	if err != nil {
		return err
	}
	var trim footprint.Trimmer
	trim.Soon() // startup needs more memory than normal operation
	r := rulesreloader.New(rulesreloader.Options{
		Dirs: o.VolumeDirs, Servers: servers, Attempts: o.Retries,
		ResyncInterval: o.Resync, Delay: o.Delay, Settle: o.settle(),
		Backoff:      reload.Backoff{Base: o.Retry, Max: o.RetryMax},
		AfterAttempt: trim.Soon, Registry: prometheus.NewRegistry(), Logger: log,
	})
	if o.ListenAddress == "" {
		return r.Run(ctx)
	}
	server, err := httpserver.Listen(httpserver.Options{
		Address: o.ListenAddress, Handler: trim.Wrap(r.Handler(o.TelemetryPath)),
		WebConfigFile: o.General.WebConfigFile, Sidecar: true, Logger: log,
	})
	if err != nil {
		return fmt.Errorf("--web.listen-address=%s: %w", o.ListenAddress, err)
	}
	return httpserver.ServeWith(ctx, server, r.Run)
}
