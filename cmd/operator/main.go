// Command operator runs Prometheus on Kubernetes: it turns the objects of
// monitoring.coreos.com into StatefulSets, Secrets and ConfigMaps.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

const program = "prometheus-operator"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program: it returns the exit code, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var (
		o    Options
		r    renderOptions
		l    lintOptions
		e    explainOptions
		code = -1

		definitions crdsCommand
	)
	app := kingpin.New("operator", "Runs Prometheus on Kubernetes from monitoring.coreos.com objects.")
	app.UsageWriter(stderr).ErrorWriter(stderr).Terminate(func(c int) {
		if code < 0 {
			code = c
		}
	})
	app.HelpFlag.Short('h')
	o.Bind(app)
	start := app.Command("start", "Run the operator (default).").Default()
	definitions.bind(app)
	full := app.Command("full-crds", "Alias of crds print --full.")
	render := app.Command("render", "Read manifests and print what the operator would write, without a cluster.")
	r.bind(render)
	lint := app.Command("lint", lintHelp)
	l.bind(lint)
	explain := app.Command("explain", explainHelp)
	e.bind(explain)

	command, err := app.Parse(arguments(app, args))
	if code >= 0 { // --help
		return code
	}
	if o.ShortVersion {
		fmt.Fprint(stdout, version.Version)
		return 0
	}
	if o.Version {
		fmt.Fprintln(stdout, version.Print(program))
		return 0
	}
	err = named(app, command, arguments(app, args), err)
	if err == nil {
		err = o.Validate()
	}
	validate := map[string]func() error{
		render.FullCommand(): r.validate, lint.FullCommand(): l.validate, explain.FullCommand(): e.validate,
	}[command]
	if err == nil && validate != nil {
		err = validate()
	}
	if err != nil {
		fmt.Fprintf(stderr, "operator: %v; see operator --help\n", err)
		return 2
	}
	switch command {
	case start.FullCommand():
		err = o.start(ctx, stdout)
	case full.FullCommand():
		err = printCRDs(stdout, true)
	case render.FullCommand():
		err = r.run(o, stdout, stderr)
	case lint.FullCommand():
		var code int
		if code, err = l.run(o, stdout); err == nil {
			return code
		}
	case explain.FullCommand():
		code, err := e.run(ctx, o, stdout)
		if err != nil {
			fmt.Fprintf(stderr, "operator: %v\n", err)
		}
		return code
	default:
		if code, ours := definitions.run(ctx, o, command, stdout, stderr); ours {
			return code
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "operator: %v\n", err)
		return 1
	}
	return 0
}
