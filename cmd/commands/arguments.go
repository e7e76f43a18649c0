package commands

import (
	"maps"
	"strconv"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// arguments rewrites command lines in the style of Go's flag package, as in manifests of older operators, for the
// parser: long flags with one dash, and a value after a switch, `--manage-crds=true`. It also rewrites "-" for
// standard input, and leaves out --no-version and --no-help, with which the parser would set no defaults. Invalid
// values are left to the parser.
func arguments(app *kingpin.Application, args []string) []string {
	model := app.Model()
	switches := switchesOf(model.FlagGroupModel, model.CmdGroupModel)
	out := make([]string, 0, len(args))
	for _, a := range args {
		if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			a = "-" + a
		}
		if a == "-" { // the parser would pass on an empty value
			a = manifests.StandardInput
		}
		if a == "--dropped" { // its value is optional
			a += "=" + anyOrigin
		}
		name, text, assigned := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if value, err := strconv.ParseBool(text); assigned && err == nil && switches[name] && strings.HasPrefix(a, "--") {
			a = "--" + name
			if !value {
				a = "--no-" + name
			}
		}
		if a != "--no-version" && a != "--no-help" {
			out = append(out, a)
		}
	}
	return out
}

// switchesOf returns the names of the flags without a value, including those of subcommands.
func switchesOf(flags *kingpin.FlagGroupModel, commands *kingpin.CmdGroupModel) map[string]bool {
	out := map[string]bool{}
	for _, f := range flags.Flags {
		if f.IsBoolFlag() {
			out[f.Name] = true
		}
	}
	for _, c := range commands.Commands {
		maps.Copy(out, switchesOf(c.FlagGroupModel, c.CmdGroupModel))
	}
	return out
}
