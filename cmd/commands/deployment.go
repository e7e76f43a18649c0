package commands

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// operatorDeployment is an operator that a Deployment among manifests runs.
type operatorDeployment struct {
	name string // of the Deployment, such as "monitoring/prometheus-operator"
	args []string
}

// tellingFlags are flags that only operators have.
var tellingFlags = []string{"prometheus-config-reloader", "config-reloader-image", "kubelet-service"}

// deployedOperators finds the containers of Deployments that run an operator. The name of
// their image is prometheus-operator, or operator in a folder firekeeper, or one of
// tellingFlags is among their arguments.
func deployedOperators(objects []manifests.Native) (out []operatorDeployment) {
	for _, object := range objects {
		d, is := object.(*appsv1.Deployment)
		if !is {
			continue
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			var args []string
			if len(c.Command) > 0 {
				args = append(args, c.Command[1:]...)
			}
			args = append(args, c.Args...)
			if !isOperator(c.Image, args) {
				continue
			}
			out = append(out, operatorDeployment{d.Namespace + "/" + d.Name, expanded(d.Namespace, c.Env, args)})
		}
	}
	return out
}

func isOperator(image string, args []string) bool {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != startCommand {
		return false // another command of ours, or a shell
	}
	image, _, _ = strings.Cut(image, "@")
	folder, name := path.Split(image)
	name, _, _ = strings.Cut(name, ":")
	return name == program || name == "operator" && path.Base(folder) == "firekeeper" ||
		slices.ContainsFunc(args, func(a string) bool {
			flag, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
			return strings.HasPrefix(a, "-") && slices.Contains(tellingFlags, flag)
		})
}

// reference matches a variable in an argument of a container.
var reference = regexp.MustCompile(`\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)`)

// expanded returns the arguments with the values of variables from the manifests. Arguments
// with unknown variables are omitted.
func expanded(namespace string, env []corev1.EnvVar, args []string) (out []string) {
	values := map[string]string{}
	for _, e := range env {
		switch from := e.ValueFrom; {
		case from == nil:
			values["$("+e.Name+")"] = e.Value
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			values["$("+e.Name+")"] = namespace
		}
	}
	for _, a := range args {
		known := true
		a = reference.ReplaceAllStringFunc(a, func(variable string) string {
			value, has := values[variable]
			known = known && has
			return value
		})
		if known {
			out = append(out, a)
		}
	}
	return out
}

// adopt returns the options with flags of the operator added from a Deployment among the
// manifests. Flags of the command line take precedence. It reports the source of the flags
// on stderr.
func (o *Options) adopt(objects *manifests.Objects, stderr io.Writer) *Options {
	found := deployedOperators(objects.Native())
	if o.below == nil || len(found) == 0 {
		return o
	}
	for _, other := range found[1:] {
		if !slices.Equal(other.args, found[0].args) {
			fmt.Fprintf(stderr, "flags of the operator: none of those in the manifests are used, because Deployments %s and %s have different ones\n", found[0].name, other.name)
			return o
		}
	}
	own, used, err := o.below(found[0].args)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "flags of the operator: those of Deployment %s are not used: %v\n", found[0].name, err)
		return o
	case used == 0:
		return o
	}
	fmt.Fprintf(stderr, "flags of the operator: those of Deployment %s, unless the command line has them\n", found[0].name)
	return own
}

// setupsOf returns the options, controllers and scopes of the operator that manages the
// manifests, see adopt. It also sets the kinds of objects.
func (o *Options) setupsOf(objects *manifests.Objects, kubernetes *semver.Version, stderr io.Writer) (own *Options, setups []engine.Setup, scopes engine.Scopes, err error) {
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
func (v variant) overlay(args, below []string) (o *Options, used int, err error) {
	o = &Options{}
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
	return o, len(kept), o.Validate()
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

// scope returns the scope of an operator with these controllers.
func scope(setups []engine.Setup, scopes engine.Scopes) manifests.Scope {
	return manifests.Scope{
		Unmanaged: func(w dryrun.Workload) string {
			i := slices.IndexFunc(setups, func(s engine.Setup) bool { return s.Kind == w.Kind })
			return explain.Candidate{Setup: setups[i], Object: w.Object}.Unmanaged()
		},
		Watches: scopes.For,
	}
}
