package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// subcommand is a command of the program. To add one, add a row to subcommands.
type subcommand struct {
	name, help string // name includes parents: "crds print"
	// example are command lines without the name of the program. Text after "#" explains the
	// line.
	example []string
	// uses are the flags of the operator that change the result: headings or flags.
	uses      []string
	byDefault bool                                                 // run if its parent is given alone
	flags     func(*kingpin.CmdClause)                             // nil if it has no flags
	validate  func() error                                         // nil for no check; errors start with the flag
	serves    bool                                                 // until it is stopped; then shuts down cleanly
	stays     bool                                                 // until it is stopped; may be abandoned
	yaml      bool                                                 // prints YAML with values of the objects, see harmless
	run       func(context.Context, streams) (exit int, err error) // nil if it only has subcommands
}

// streams are the output streams of a command.
type streams struct{ out, err io.Writer }

// Commands with special treatment.
const (
	// startCommand runs the operator. It is the only command that uses all flags of the
	// operator.
	startCommand   = "start"
	versionCommand = "version"
	// listCommand is the default command of the plugin.
	listCommand = "commands"
)

// subcommands returns all commands of the operator in the order of the help, parents before
// their subcommands.
func subcommands(o *Options) []subcommand {
	var (
		c crdsCommand
		w webhookOptions
		d discoveryOptions
	)
	out := []subcommand{{
		name: startCommand, help: "Run the operator (default with flags, and in a pod).", byDefault: true, serves: true,
		run: func(ctx context.Context, s streams) (int, error) { return exit(o.start(ctx, s.out)) },
	}}
	out = append(out, common(&o.userOptions)...)
	return append(out,
		serving(o, nil, "--web.listen-address", "--web.api"),
		subcommand{name: "crds", help: "Print, install or compare the CustomResourceDefinitions (CRDs).", flags: c.bind},
		printing(&c),
		subcommand{name: "crds apply", help: "Install the CRDs into the cluster and wait until they are established.", flags: c.bindApply, validate: c.validate,
			example: []string{"crds apply # into the cluster of your kubeconfig"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return exit(c.install(ctx, &o.connection, s)) }},
		subcommand{name: "crds diff", help: "Show what apply would change. Exits 0 if nothing, 1 if something, 2 on an error.",
			example: []string{"crds diff --full # what crds apply --full would change"}, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return c.compare(ctx, &o.connection, s) }},
		subcommand{name: "full-crds", help: "Alias of crds print --full.",
			run: func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, true)) }},
		subcommand{name: "admission-webhook", serves: true, help: webhookHelp, flags: w.bind, validate: w.validate, example: webhookExample,
			uses: []string{webFlags, "--log-level", "--log-format", "--auto-gomemlimit-ratio"},
			run:  func(ctx context.Context, s streams) (int, error) { return exit(w.run(ctx, o, s.out)) }},
		subcommand{name: "discovery", serves: true, help: discoveryHelp, flags: d.bind, validate: d.validate, example: discoveryExample,
			uses: append([]string{"--web.listen-address", "--web.api", apiServerFlags, electionFlags, "--log-level", "--log-format", "--auto-gomemlimit-ratio", "--cluster-domain"}, decides...),
			run:  func(ctx context.Context, s streams) (int, error) { return exit(d.run(ctx, o, s.out)) }},
		versioning,
	)
}

// forPeople returns the commands of the plugin. None of them writes to a cluster, and none links
// the controllers.
func forPeople(o *Options) []subcommand {
	var c crdsCommand
	return append(common(&o.userOptions),
		serving(o, o.bindUI),
		subcommand{name: "crds", help: "Print the CustomResourceDefinitions (CRDs).", flags: c.bind},
		printing(&c), versioning,
		subcommand{name: listCommand, help: "List the commands (default).", byDefault: true, run: nothing})
}

// decides are the flags of the operator that affect the selection of objects and the generated
// objects.
var decides = []string{scopeFlags, "--feature-gates", "--watch-referenced-objects-in-all-namespaces", "--disable-unmanaged-prometheus-configuration"}

// common returns the commands that both programs have.
func common(o *userOptions) []subcommand {
	var (
		r renderOptions
		l lintOptions
		e explainOptions
		t routeOptions
		v verifyOptions
		n convertOptions
		u statusOptions
		g targetsOptions
	)
	written := append([]string{objectFlags}, decides...)
	live := append([]string{apiServerFlags}, decides...)
	return []subcommand{
		{name: "status", help: statusHelp, flags: o.withObjects(u.bind, &u.words, &u.namespace, workloadRows), validate: func() error { return u.validate(o) }, example: statusExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return u.run(ctx, o, s.out) }},
		{name: "lint", help: lintHelp, flags: l.bind, validate: l.validate, example: lintExample, uses: decides,
			run: func(_ context.Context, s streams) (int, error) { return l.run(o, s) }},
		{name: "explain", help: explainHelp, flags: o.withObjects(e.bind, &e.words, &e.namespace, configRows), validate: func() error { return e.validate(o) }, example: explainExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return e.run(ctx, o, s) }},
		{name: "targets", help: targetsHelp, flags: o.withObjects(g.bind, &g.words, &g.namespace, slices.Concat(preview.Kinds, scrapeRows)), validate: func() error { return g.validate(o) }, example: targetsExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return g.run(ctx, o, s) }},
		{name: "render", help: renderHelp, flags: r.bind, validate: r.validate, example: renderExample, uses: written, yaml: true,
			run: func(_ context.Context, s streams) (int, error) { return exit(r.run(o, s.out, s.err)) }},
		{name: "route", help: routeHelp, flags: t.bind, validate: t.validate, example: routeExample, uses: live,
			run: func(ctx context.Context, s streams) (int, error) { return t.run(ctx, o, s) }},
		{name: "convert", help: convertHelp, flags: n.bind, validate: n.validate, example: convertExample, uses: []string{"--labels"},
			run: func(_ context.Context, s streams) (int, error) { return exit(n.run(o, s)) }},
		{name: "verify", help: verifyHelp, flags: v.bind, validate: v.validate, example: verifyExample, uses: []string{apiServerFlags},
			run: func(ctx context.Context, s streams) (int, error) { return v.run(ctx, &o.connection, s.out) }},
	}
}

// serving returns the command ui. flags declares flags that the program does not have; uses are
// flags that it has.
func serving(o *Options, flags func(*kingpin.CmdClause), uses ...string) subcommand {
	var u uiOptions
	uses = append(append(uses, decides...), apiServerFlags)
	return subcommand{
		name: "ui", stays: true, help: uiHelp, flags: flags, validate: func() error { return u.validate(o) }, example: uiExample, uses: uses,
		run: func(ctx context.Context, s streams) (int, error) { return u.run(ctx, o, s) },
	}
}

// printing returns the command crds print.
func printing(c *crdsCommand) subcommand {
	return subcommand{
		name: "crds print", help: "Print the CRDs as YAML (default). Without --full they are small enough for kubectl apply.", byDefault: true,
		example: []string{"crds print | kubectl apply -f - # install them with kubectl"},
		run:     func(_ context.Context, s streams) (int, error) { return exit(printCRDs(s.out, c.full)) },
	}
}

// versioning is the command version. The program itself handles it.
var versioning = subcommand{
	name: versionCommand, help: "Print version and build information, as --version does.",
	run: nothing,
}

// nothing is the run function of commands that the program itself handles.
func nothing(context.Context, streams) (int, error) { return 0, nil }

// exit returns the exit code of a command that either succeeds or fails.
func exit(err error) (int, error) {
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// declare adds the commands to the parser.
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

// find returns the command with this name, or an empty one for an invalid command line.
func find(all []subcommand, name string) subcommand {
	for _, c := range all {
		if c.name == name {
			return c
		}
	}
	return subcommand{}
}
