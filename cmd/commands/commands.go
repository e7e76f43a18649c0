package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
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
	serves    bool                                                 // until it is told to stop, and then ends what it has begun
	run       func(context.Context, streams) (exit int, err error) // nil: only has commands
}

// streams are where a command writes to.
type streams struct{ out, err io.Writer }

// Commands that the program itself knows.
const (
	// startCommand runs the operator. It is the only one that all its flags are about.
	startCommand   = "start"
	versionCommand = "version"
	// listCommand is what the plugin does when it is given no command.
	listCommand = "commands"
)

// subcommands are all commands of the operator, in the order of the help, parents before
// their commands.
func subcommands(o *Options) []subcommand {
	var (
		c crdsCommand
		w webhookOptions
	)
	out := []subcommand{{
		name: startCommand, help: "Run the operator (default).", byDefault: true, serves: true,
		run: func(ctx context.Context, s streams) (int, error) { return exit(o.start(ctx, s.out)) },
	}}
	out = append(out, common(o)...)
	return append(out,
		serving(o, nil, "--web.listen-address", "--web.api"),
		subcommand{name: "crds", help: "Print, install or compare the CustomResourceDefinitions (CRDs).", flags: c.bind},
		printing(&c),
		subcommand{name: "crds apply", help: "Install the CRDs into the cluster and wait until they are established.", flags: c.bindApply, validate: c.validate,
			example: []string{"crds apply # into the cluster of your kubeconfig"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return exit(c.install(ctx, o, s)) }},
		subcommand{name: "crds diff", help: "Show what apply would change. Exits 0 if nothing, 1 if something, 2 on an error.",
			example: []string{"crds diff --full # what crds apply --full would change"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return c.compare(ctx, o, s) }},
		subcommand{name: "full-crds", help: "Alias of crds print --full.",
			run: func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, true)) }},
		subcommand{name: "admission-webhook", serves: true, help: webhookHelp, flags: w.bind, validate: w.validate, example: webhookExample,
			uses: []string{webFlags, "--log-level", "--log-format", "--auto-gomemlimit-ratio"},
			run:  func(ctx context.Context, s streams) (int, error) { return exit(w.run(ctx, o, s.out)) }},
		versioning,
	)
}

// forPeople are the commands of the plugin. None of them writes to a cluster, and none links
// what runs the operator.
func forPeople(o *Options) []subcommand {
	var c crdsCommand
	return append(common(o),
		serving(o, o.bindUI),
		subcommand{name: "crds", help: "Print the CustomResourceDefinitions (CRDs).", flags: c.bind},
		printing(&c), versioning,
		subcommand{name: listCommand, help: "List the commands (default).", byDefault: true, run: nothing})
}

// decides are the flags of the operator that decide what workloads select and become.
var decides = []string{scopeFlags, "--feature-gates", "--watch-referenced-objects-in-all-namespaces", "--disable-unmanaged-prometheus-configuration"}

// common are the commands that both programs have.
func common(o *Options) []subcommand {
	var (
		r renderOptions
		l lintOptions
		e explainOptions
		t routeOptions
		v verifyOptions
		u statusOptions
		g targetsOptions
	)
	written := append([]string{objectFlags}, decides...)
	live := append([]string{apiServerFlags}, decides...)
	return []subcommand{
		{name: "status", help: statusHelp, flags: o.withObjects(u.bind, &u.words, &u.namespace, workloadRows), validate: func() error { return u.validate(o) }, example: statusExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return u.run(ctx, *o, s.out) }},
		{name: "lint", help: lintHelp, flags: l.bind, validate: l.validate, example: lintExample, uses: decides,
			run: func(_ context.Context, s streams) (int, error) { return l.run(*o, s) }},
		{name: "explain", help: explainHelp, flags: o.withObjects(e.bind, &e.words, &e.namespace, configRows), validate: func() error { return e.validate(o) }, example: explainExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return e.run(ctx, *o, s) }},
		{name: "targets", help: targetsHelp, flags: o.withObjects(g.bind, &g.words, &g.namespace, slices.Concat(preview.Kinds, scrapeRows)), validate: func() error { return g.validate(o) }, example: targetsExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return g.run(ctx, *o, s) }},
		{name: "render", help: renderHelp, flags: r.bind, validate: r.validate, example: renderExample, uses: written,
			run: func(_ context.Context, s streams) (int, error) { return exit(r.run(*o, s.out, s.err)) }},
		{name: "route", help: routeHelp, flags: t.bind, validate: t.validate, example: routeExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return t.run(ctx, *o, s.out) }},
		{name: "verify", help: verifyHelp, flags: v.bind, validate: v.validate, example: verifyExample, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return v.run(ctx, o, s.out) }},
	}
}

// serving is the command ui. flags declares those that the program does not have, uses are those
// that it has.
func serving(o *Options, flags func(*kingpin.CmdClause), uses ...string) subcommand {
	var u uiOptions
	uses = append(append(uses, decides...), apiServerFlags)
	return subcommand{
		name: "ui", help: uiHelp, flags: flags, validate: func() error { return u.validate(o) }, example: uiExample, uses: uses,
		run: func(ctx context.Context, s streams) (int, error) { return u.run(ctx, o, s) },
	}
}

// printing is the command crds print.
func printing(c *crdsCommand) subcommand {
	return subcommand{
		name: "crds print", help: "Print the CRDs as YAML (default). Without --full they are small enough for kubectl apply.", byDefault: true,
		example: []string{"crds print | kubectl apply -f - # install them with kubectl"},
		run:     func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, c.full)) },
	}
}

// versioning is the command version, which the program itself runs.
var versioning = subcommand{
	name: versionCommand, help: "Print version and build information, as --version does.",
	run: nothing,
}

// nothing is what is left to do for commands that the program itself runs.
func nothing(context.Context, streams) (int, error) { return 0, nil }

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
