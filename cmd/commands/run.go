// Package commands is what the programs operator and kubectl-firekeeper do: their flags and
// commands, and what connects these to the packages of the operator. The programs differ in
// the commands that they have.
//
//	run.go help.go mistake.go arguments.go   a command line: parsed, explained, refused
//	options.go and other flags               what the flags of the operator mean
//	commands.go                              the commands of each program
//	start.go controllers.go leader.go …      the command that runs the operator
//	status.go explain.go lint.go …           the commands for people, one file each
package commands

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

// program is what the operator is called in the output of --version, on which programs of
// users rely, and in the name of its Lease.
const program = "prometheus-operator"

// variant is one of the programs.
type variant struct {
	name     string // of the file, for completion
	spoken   string // as people type it
	version  string // what --version calls it
	about    string
	bind     func(*Options, *kingpin.Application) *headings
	commands func(*Options) []subcommand
}

// Main runs a program with the arguments of the process, and ends the process. A signal ends the
// program, a second one the process.
func Main(program func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // commands say themselves what fails; those that serve have a log
	code := program(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Operator runs the operator, or one of its commands, and returns the exit code: 2 for a
// wrong command line.
func Operator(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return variant{
		name: "operator", spoken: "operator", version: program,
		about: "Runs Prometheus on Kubernetes from monitoring.coreos.com objects.",
		bind:  (*Options).Bind, commands: subcommands,
	}.run(ctx, args, stdout, stderr)
}

// Plugin runs a command for people and returns the exit code, as Operator does.
func Plugin(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return variant{
		name: "kubectl-firekeeper", spoken: "kubectl firekeeper", version: "kubectl-firekeeper",
		about: "Shows, explains and checks monitoring.coreos.com objects: those of a cluster, and those in manifests.",
		bind:  (*Options).bindForPeople, commands: forPeople,
	}.run(ctx, args, stdout, stderr)
}

func (v variant) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = harmless{stdout}, harmless{stderr}
	var (
		o    Options
		code = -1
	)
	app := kingpin.New(v.name, v.about)
	app.UsageWriter(stdout).ErrorWriter(stderr).Terminate(func(c int) {
		if code < 0 {
			code = c
		}
	})
	app.HelpFlag.Short('h')
	all := v.commands(&o)
	help{v.bind(&o, app), v.spoken, all}.show(app)
	declare(app, all)
	nameFlags(app)

	if words, is := completedWords(args); is {
		if names := commandNames(app.Model(), words); names != nil {
			fmt.Fprintln(stdout, strings.Join(names, "\n"))
			return 0
		}
	}
	args = arguments(app, args)
	name, err := app.Parse(args)
	if err != nil {
		name, err = mistake(app, args, err)
	}
	switch {
	case code >= 0: // --help, completion
		return code
	case o.ShortVersion:
		fmt.Fprint(stdout, version.Version)
		return 0
	case o.Version || name == versionCommand && err == nil:
		fmt.Fprintln(stdout, version.Print(v.version))
		return 0
	case name == listCommand && err == nil:
		app.Usage(nil)
		return 0
	}
	o.below = func(below []string) (*Options, int, error) { return v.overlay(args, below) }
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
		fmt.Fprintf(stderr, "%s: %v%s %s --help\n", v.name, err, see, strings.TrimSpace(v.spoken+" "+name))
		return 2
	}
	o.told = &serial{w: stderr}
	code, err = chosen.ends(ctx, streams{stdout, o.told})
	if err != nil {
		fmt.Fprintf(o.told, "%s: %v\n", v.name, err)
	}
	return code
}
