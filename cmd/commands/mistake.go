package commands

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// unknownFlag matches the parser's error for an unknown flag.
var unknownFlag = regexp.MustCompile(`^unknown long flag '--(.*)'$`)

// mistake returns the command of an invalid command line, or "" if it has none, and an
// error that suggests a similar word.
func mistake(app *kingpin.Application, args []string, err error) (command string, _ error) {
	at, _ := app.ParseContext(args) // returns the same error
	if at == nil {
		return "", err
	}
	flags, commands := app.Model().Flags, app.Model().Commands
	if at.SelectedCommand != nil {
		for word := range strings.FieldsSeq(at.SelectedCommand.FullCommand()) {
			i := slices.IndexFunc(commands, func(c *kingpin.CmdModel) bool { return c.Name == word })
			if i < 0 || !slices.Contains(args, word) {
				break // a default command
			}
			command, flags, commands = commands[i].FullCommand, append(flags, commands[i].Flags...), commands[i].Commands
		}
	}
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var names []string
		for _, f := range flags {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		}
		return command, fmt.Errorf("%w%s", err, meant("--", m[1], names))
	}
	if word, unexpected := strings.CutPrefix(err.Error(), "unexpected "); unexpected && len(commands) > 0 {
		var names []string
		for _, c := range commands {
			names = append(names, c.Name)
		}
		return command, fmt.Errorf("unknown command %q%s", word, meant("", word, names))
	}
	return command, err
}

// meant returns a suggestion, or "" if there is none.
func meant(prefix, name string, known []string) string {
	if like := manifest.Similar(name, known); like != "" {
		return fmt.Sprintf(", did you mean \"%s%s\"?", prefix, like)
	}
	return ""
}
