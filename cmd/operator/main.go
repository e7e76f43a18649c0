// Command operator runs Prometheus on Kubernetes: it turns the objects of
// monitoring.coreos.com into StatefulSets, Secrets and ConfigMaps.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
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
		code = -1
	)
	app := kingpin.New("operator", "Runs Prometheus on Kubernetes from monitoring.coreos.com objects.")
	app.UsageWriter(stderr).ErrorWriter(stderr).Terminate(func(c int) {
		if code < 0 {
			code = c
		}
	})
	app.HelpFlag.Short('h')
	all := subcommands(&o)
	help{o.Bind(app), all}.show(app)
	declare(app, all)
	nameFlags(app)

	args = arguments(app, args)
	name, err := app.Parse(args)
	if err != nil {
		name, err = mistake(app, args, err)
	}
	switch {
	case code >= 0: // --help
		return code
	case o.ShortVersion:
		fmt.Fprint(stdout, version.Version)
		return 0
	case o.Version:
		fmt.Fprintln(stdout, version.Print(program))
		return 0
	}
	chosen := find(all, name)
	if err == nil {
		err = o.Validate()
	}
	if err == nil && chosen.validate != nil {
		err = chosen.validate()
	}
	if err != nil {
		see := "; see"
		if strings.HasSuffix(err.Error(), "?") {
			see = " See"
		}
		fmt.Fprintf(stderr, "%s: %v%s %s --help\n", app.Name, err, see, strings.TrimSpace(app.Name+" "+name))
		return 2
	}
	code, err = chosen.run(ctx, streams{stdout, stderr})
	if err != nil {
		fmt.Fprintf(stderr, "operator: %v\n", err)
	}
	return code
}
