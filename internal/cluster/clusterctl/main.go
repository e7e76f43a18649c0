// Command clusterctl starts and stops a Kubernetes cluster on this machine.
//
//	go run ./internal/cluster/clusterctl up
//	export KUBECONFIG=$PWD/.cluster/kubeconfig
//	.cluster/bin/kubectl get nodes
//	go run ./internal/cluster/clusterctl down
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `clusterctl runs a Kubernetes on this machine: a whole node with pods (as root), or a
control plane alone (as anybody). Programs that are missing are built from Go modules,
which takes minutes the first time.

Usage:
  clusterctl up [--dir DIR] [--control-plane-only]
  clusterctl down [--dir DIR]
  clusterctl status [--dir DIR]
  clusterctl load-image NAME [--dir DIR] [--context DIR] [--dockerfile FILE] [--build-arg KEY=VALUE]...
  clusterctl load-programs IMAGE PROGRAM... [--dir DIR]
  clusterctl programs NAME...

Each command prints its own help with --help. Exit status: 0 done, 1 not done, 2 wrong usage;
status: 3 when no cluster runs.
`

// env is the environment of a command.
type env struct {
	dir    string // of the cluster
	args   []string
	stdout io.Writer
	stderr io.Writer // progress
}

// subcommand is one row of the usage.
type subcommand struct {
	help string // description below the usage line
	args string // positional arguments in the usage line
	// bind declares flags and returns the function to run after they are parsed.
	bind func(*flag.FlagSet) func(context.Context, env) error
}

// usageError makes run print the help of the command.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	name := strings.TrimLeft(args[0], "-")
	cmd, ok := subcommands[name]
	switch {
	case name == "help" || name == "h":
		fmt.Fprint(stdout, usage)
		return 0
	case !ok:
		fmt.Fprintf(stderr, "clusterctl: unknown command %q\n\n%s", args[0], usage)
		return 2
	}
	return cmd.run(ctx, name, args[1:], stdout, stderr)
}

func (c subcommand) run(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", ".cluster", "`folder` that keeps the cluster: kubeconfig, logs, data")
	do := c.bind(flags)
	help := func(w io.Writer) {
		fmt.Fprintf(w, "Usage: clusterctl %s %s[flags]\n\n%s\n\nFlags:\n", name, c.args, c.help)
		flags.SetOutput(w)
		flags.PrintDefaults()
	}
	positional, err := parseMixed(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(stdout)
		return 0
	case err == nil:
		err = do(ctx, env{dir: *dir, args: positional, stdout: stdout, stderr: stderr})
	default:
		err = &usageError{err.Error()}
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "clusterctl %s: %v\n", name, err)
	if _, wrong := errors.AsType[*usageError](err); wrong {
		fmt.Fprintln(stderr)
		help(stderr)
		return 2
	}
	if errors.Is(err, errNotRunning) {
		return 3
	}
	return 1
}

// parseMixed parses flags before, between and after positional arguments.
func parseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	var positional []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return positional, nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
}
