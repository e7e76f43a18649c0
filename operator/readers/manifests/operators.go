package manifests

import (
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// Operator is an operator that a Deployment among the manifests runs.
type Operator struct {
	Deployment string // "monitoring/prometheus-operator"
	Args       []string
}

// tellingFlags are flags that only operators have.
var tellingFlags = []string{"prometheus-config-reloader", "config-reloader-image", "kubelet-service"}

// Operators returns the operators that Deployments run, in the order of the input. The name of
// their image is prometheus-operator, or operator in a folder firekeeper, or one of tellingFlags is
// among their arguments. command is the command that starts an operator; containers with another
// command are something else.
func (o *Objects) Operators(command string) (out []Operator) {
	for _, object := range o.native {
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
			if !isOperator(c.Image, args, command) {
				continue
			}
			out = append(out, Operator{d.Namespace + "/" + d.Name, expanded(d.Namespace, c.Env, args)})
		}
	}
	return out
}

func isOperator(image string, args []string, command string) bool {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != command {
		return false // another command of ours, or a shell
	}
	image, _, _ = strings.Cut(image, "@")
	folder, name := path.Split(image)
	name, _, _ = strings.Cut(name, ":")
	return name == "prometheus-operator" || name == "operator" && path.Base(folder) == "firekeeper" ||
		slices.ContainsFunc(args, func(a string) bool {
			flag, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
			return strings.HasPrefix(a, "-") && slices.Contains(tellingFlags, flag)
		})
}

// variable matches a variable in an argument of a container.
var variable = lazyregexp.New(`\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)`)

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
		a = variable.ReplaceAllStringFunc(a, func(name string) string {
			value, has := values[name]
			known = known && has
			return value
		})
		if known {
			out = append(out, a)
		}
	}
	return out
}
