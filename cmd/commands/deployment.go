package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// adopt returns the options with flags of the operator added from a Deployment among the
// manifests. Flags of the command line take precedence. It reports the source of the flags
// on stderr.
func (o *userOptions) adopt(objects *manifests.Objects, stderr io.Writer) *userOptions {
	found := objects.Operators(startCommand)
	if o.below == nil || len(found) == 0 {
		return o
	}
	for _, other := range found[1:] {
		if !slices.Equal(other.Args, found[0].Args) {
			fmt.Fprintf(stderr, "flags of the operator: none of those in the manifests are used, because Deployments %s and %s have different ones\n", found[0].Deployment, other.Deployment)
			return o
		}
	}
	own, used, err := o.below(found[0].Args)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "flags of the operator: those of Deployment %s are not used: %v\n", found[0].Deployment, err)
		return o
	case used == 0:
		return o
	}
	fmt.Fprintf(stderr, "flags of the operator: those of Deployment %s, unless the command line has them\n", found[0].Deployment)
	return own
}

// setupsOf returns the options, controllers and scopes of the operator that manages the
// manifests, see adopt. It also sets the kinds of objects.
func (o *userOptions) setupsOf(objects *manifests.Objects, kubernetes *semver.Version, stderr io.Writer) (own *userOptions, setups []engine.Setup, scopes engine.Scopes, err error) {
	own = o.adopt(objects, stderr)
	if setups, scopes, err = own.setups(kubernetes); err == nil {
		objects.Kinds = explain.Kinds(setups)
	}
	return own, setups, scopes, err
}

// overlay parses a command line again with additional arguments for flags that it does not
// have. Unknown flags are ignored; used is the number of the others.
//
// Errors: a value is invalid, or flags contradict each other.
func (v variant) overlay(args, below []string) (out *userOptions, used int, err error) {
	o := &Options{}
	app := kingpin.New(v.name, v.about)
	app.UsageWriter(io.Discard).ErrorWriter(io.Discard).Terminate(func(int) {})
	v.bind(o, app)
	declare(app, v.commands(o))
	nameFlags(app)
	line, err := app.ParseContext(args)
	if err != nil {
		return nil, 0, err
	}
	given := map[string]bool{}
	for _, e := range line.Elements {
		if f, is := e.Clause.(*kingpin.FlagClause); is {
			given[f.Model().Name] = true
		}
	}
	kept := knownFlags(app, arguments(app, below), given)
	if _, err := app.Parse(slices.Concat(kept, args)); err != nil {
		return nil, 0, err
	}
	return &o.userOptions, len(kept), o.Validate()
}

// knownFlags returns the arguments for flags that the program supports and the command line
// does not have. Each flag and its value are one argument.
func knownFlags(app *kingpin.Application, args []string, given map[string]bool) (out []string) {
	for i := 0; i < len(args); i++ {
		name, _, assigned := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !strings.HasPrefix(args[i], "--") {
			continue
		}
		flag := app.GetFlag(name)
		if plain, negated := strings.CutPrefix(name, "no-"); flag == nil && negated {
			name, flag = plain, app.GetFlag(plain)
		}
		if flag == nil {
			continue
		}
		arg := args[i]
		if !assigned && !flag.Model().IsBoolFlag() && i+1 < len(args) {
			i++
			arg += "=" + args[i]
		}
		if !given[name] {
			out = append(out, arg)
		}
	}
	return out
}
