// Package commands implements the programs operator and kubectl-firekeeper: their flags and
// commands, and the connection to the packages of the operator. The programs have different
// commands.
//
//	run.go help.go mistake.go arguments.go   command lines: parsing, help, errors
//	options.go and other flags               flags of the operator
//	commands.go                              commands of each program
//	start.go controllers.go leader.go …      the command that runs the operator
//	status.go explain.go lint.go …           commands for users, one file each
package commands

import (
	"context"
	"errors"
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

// program is the name of the operator in the output of --version, which programs of users parse,
// and in the name of its Lease.
const program = "prometheus-operator"

// variant is one of the programs.
type variant struct {
	name     string // file name, for completion
	spoken   string // as the user types it
	version  string // name in the output of --version
	about    string
	bind     func(*Options, *kingpin.Application) *headings
	commands func(*Options) []subcommand
}

// Main runs a program with the arguments of the process and exits. The first signal stops the
// program, a second one kills the process.
func Main(program func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // commands report their errors, and servers set another logger
	code := program(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Operator runs the operator or one of its commands, and returns the exit code, 2 for an invalid
// command line.
func Operator(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return variant{
		name: "operator", spoken: "operator", version: program,
		about: "Runs Prometheus on Kubernetes from monitoring.coreos.com objects.",
		bind:  (*Options).Bind, commands: subcommands,
	}.run(ctx, args, stdout, stderr)
}

// Plugin runs a command of the kubectl plugin and returns the exit code, like [Operator].
func Plugin(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return variant{
		name: "kubectl-firekeeper", spoken: "kubectl firekeeper", version: "kubectl-firekeeper",
		about: "Shows, explains and checks monitoring.coreos.com objects: those of a cluster, and those in manifests.",
		bind:  (*Options).bindForPeople, commands: forPeople,
	}.run(ctx, args, stdout, stderr)
}

func (v variant) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	plain := stdout
	stdout, stderr = harmless{w: stdout}, harmless{w: stderr}
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

	if completed(app, args, stdout) {
		return 0
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
	o.below = func(below []string) (*userOptions, int, error) { return v.overlay(args, below) }
	chosen := find(all, name)
	if name == startCommand && len(args) == 0 && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		name, err = "", errors.New("no command, and this is no pod: operator start runs the operator for the cluster of KUBECONFIG")
	}
	if err == nil {
		err = o.validateWith(chosen)
	}
	if err != nil {
		v.refuse(stderr, name, err)
		return 2
	}
	stdout = harmless{w: plain, yaml: chosen.yaml}
	o.progress = &serial{w: stderr}
	code, err = chosen.ends(ctx, streams{stdout, o.progress})
	if err != nil {
		fmt.Fprintf(o.progress, "%s: %v\n", v.name, err)
	}
	return code
}

// refuse prints the error of a command line, and how to get help. name is the command; empty if there is none.
func (v variant) refuse(stderr io.Writer, name string, err error) {
	see := "; see"
	if strings.HasSuffix(err.Error(), "?") {
		see = " See"
	}
	fmt.Fprintf(stderr, "%s: %v%s %s --help\n", v.name, err, see, strings.TrimSpace(v.spoken+" "+name))
}

// completed prints the names of commands that complete the words of a command line, if a shell asks.
func completed(app *kingpin.Application, args []string, stdout io.Writer) bool {
	words, is := completedWords(args)
	if !is {
		return false
	}
	names := commandNames(app.Model(), words)
	if names != nil {
		fmt.Fprintln(stdout, strings.Join(names, "\n"))
	}
	return names != nil
}

// validateWith returns an error for the first invalid option, of all commands or of the chosen one.
func (o *Options) validateWith(chosen subcommand) error {
	if err := o.Validate(); err != nil || chosen.validate == nil {
		return err
	}
	return chosen.validate()
}
