package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

// subcommand is one command of the program. A new one is a row of subcommands.
type subcommand struct {
	name, help string // name with its parents: "crds print"
	// example are command lines without the name of the program, each explained by what
	// follows its "#".
	example []string
	// uses are the flags of the operator that change the result: headings, or flags.
	uses      []string
	byDefault bool                                                 // runs when its parent is given alone
	flags     func(*kingpin.CmdClause)                             // nil: none of its own
	validate  func() error                                         // nil: nothing to check; messages start with the flag
	run       func(context.Context, streams) (exit int, err error) // nil: only has commands
}

// streams are where a command writes to.
type streams struct{ out, err io.Writer }

// subcommands are all commands, in the order of the help, parents before their commands.
func subcommands(o *Options) []subcommand {
	var (
		r renderOptions
		l lintOptions
		e explainOptions
		t routeOptions
		c crdsCommand
		w webhookOptions
		v verifyOptions
		u statusOptions
	)
	decides := []string{"--feature-gates", "--watch-referenced-objects-in-all-namespaces", "--disable-unmanaged-prometheus-configuration"}
	written := append([]string{objectFlags}, decides...)
	live := append([]string{apiServerFlags, scopeFlags}, decides...)
	return []subcommand{
		{name: startCommand, help: "Run the operator (default).", byDefault: true,
			run: func(ctx context.Context, s streams) (int, error) { return exit(o.start(ctx, s.out)) }},
		{name: "status", help: statusHelp, flags: u.bind, validate: u.validate, example: statusExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return u.run(ctx, *o, s.out) }},
		{name: "lint", help: lintHelp, flags: l.bind, validate: l.validate, example: lintExample, uses: decides,
			run: func(_ context.Context, s streams) (int, error) { return l.run(*o, s.out) }},
		{name: "explain", help: explainHelp, flags: e.bind, validate: func() error { return e.validate(o) }, example: explainExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return e.run(ctx, *o, s.out) }},
		{name: "render", help: renderHelp, flags: r.bind, validate: r.validate, example: renderExample, uses: written,
			run: func(_ context.Context, s streams) (int, error) { return exit(r.run(*o, s.out, s.err)) }},
		{name: "route", help: routeHelp, flags: t.bind, validate: t.validate, example: routeExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return t.run(ctx, *o, s.out) }},
		{name: "verify", help: verifyHelp, flags: v.bind, validate: v.validate, example: verifyExample, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return v.run(ctx, o, s.out) }},
		{name: "crds", help: "Print, install or compare the CustomResourceDefinitions (CRDs).", flags: c.bind},
		{name: "crds print", help: "Print the CRDs as YAML (default). Without --full they are small enough for kubectl apply.", byDefault: true,
			example: []string{"crds print | kubectl apply -f - # install them with kubectl"},
			run:     func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, c.full)) }},
		{name: "crds apply", help: "Install the CRDs into the cluster and wait until they are established.", flags: c.bindApply, validate: c.validate,
			example: []string{"crds apply # into the cluster of your kubeconfig"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return exit(c.install(ctx, o, s)) }},
		{name: "crds diff", help: "Show what apply would change. Exits 0 if nothing, 1 if something, 2 on an error.",
			example: []string{"crds diff --full # what crds apply --full would change"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return c.compare(ctx, o, s) }},
		{name: "full-crds", help: "Alias of crds print --full.",
			run: func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, true)) }},
		{name: "admission-webhook", help: webhookHelp, flags: w.bind, validate: w.validate, example: webhookExample,
			uses: []string{webFlags, "--log-level", "--log-format", "--auto-gomemlimit-ratio"},
			run:  func(ctx context.Context, s streams) (int, error) { return exit(w.run(ctx, o, s.out)) }},
		{name: "version", help: "Print version and build information, as --version does.",
			run: func(_ context.Context, s streams) (int, error) { return exit(printVersion(s.out)) }},
	}
}

// startCommand runs the operator. It is the only one that all its flags are about.
const startCommand = "start"

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintln(w, version.Print(program))
	return err
}

// exit is the exit code of a command that either works or fails.
func exit(err error) (int, error) {
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// declare makes the commands known to the parser.
func declare(app *kingpin.Application, all []subcommand) {
	for _, c := range all {
		var clause *kingpin.CmdClause
		if parent, name, nested := strings.Cut(c.name, " "); nested {
			clause = app.GetCommand(parent).Command(name, c.help)
		} else {
			clause = app.Command(c.name, c.help)
		}
		if c.byDefault {
			clause.Default()
		}
		if c.flags != nil {
			c.flags(clause)
		}
	}
}

// find returns the command of a name; none for that of a wrong command line.
func find(all []subcommand, name string) subcommand {
	for _, c := range all {
		if c.name == name {
			return c
		}
	}
	return subcommand{}
}
