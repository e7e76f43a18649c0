package commands

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/convert"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

const convertHelp = "Print PrometheusRules for rule files and ConfigMaps. The rules of ConfigMaps are those of all keys that contain a rule file. " +
	"Exits 1 if there are no rules, or if some cannot be converted, 2 for a wrong command line, 0 otherwise."

var convertExample = []string{
	"convert rules.yaml -n demo # a rule file of Prometheus",
	"convert configmap.yaml --labels=release=prometheus # all rules in a ConfigMap, for a ruleSelector that wants this label",
}

// convertOptions are the flags of the command convert.
type convertOptions struct {
	files     []string
	namespace string
}

func (c *convertOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("files", "Rule files and manifests of ConfigMaps, as with -f.").PlaceHolder("FILE").StringsVar(&c.files)
	cmd.Flag("file", "Rule file, or manifest of ConfigMaps; - is standard input. Repeatable.").Short('f').StringsVar(&c.files)
	bindNamespace(cmd, &c.namespace)
}

// validate checks the arguments.
func (c *convertOptions) validate() error { return needFiles("convert", c.files) }

// run prints the PrometheusRules. What cannot be converted is an error; the rest is printed.
func (c *convertOptions) run(o *userOptions, s streams) error {
	defer o.reading(c.files...)()
	var failed error
	printed := 0
	for _, name := range c.files {
		text, err := manifests.Content(name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		made := convert.Rules(name, text, convert.Options{Namespace: c.namespace, Labels: o.Labels})
		if len(made) == 0 {
			failed = errors.Join(failed, fmt.Errorf("%s: has no rules: neither groups at the top level nor a ConfigMap with a rule file", name))
		}
		for _, m := range made {
			if m.Err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", m.Source, m.Err))
				continue
			}
			if err := printRules(s.out, printed, m); err != nil {
				return err
			}
			printed++
		}
	}
	return failed
}

// printRules prints a PrometheusRule as document i.
func printRules(out io.Writer, i int, m convert.Made) error {
	separator := ""
	if i > 0 {
		separator = "---\n"
	}
	_, err := fmt.Fprintf(out, "%s# %s\n%s", separator, m.Source, m.YAML)
	return err
}
