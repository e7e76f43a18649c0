package commands

import (
	"cmp"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kingpin/v2"
)

// helpTemplate prints the commands first, since most users look for them. The help of a command
// omits flags that do not change its result.
const helpTemplate = `{{define "Args" -}}
{{range .Args}}{{if not .Hidden}} {{if not .Required}}[{{end}}{{if .PlaceHolder}}{{.PlaceHolder}}{{else}}<{{.Name}}>{{end}}{{if .Value|IsCumulative}}...{{end}}{{if not .Required}}]{{end}}{{end}}{{end -}}
{{end -}}

{{$command := .Context.SelectedCommand -}}
{{if $command -}}
usage: {{Program}} {{$command}}{{if $command.FlagSummary}} {{$command.FlagSummary}}{{end}}{{template "Args" $command}}{{if $command.Commands}} <command>{{end}}

{{$command.Help|Wrap 0}}
{{else -}}
usage: {{Program}} [<flags>] <command> [<args> ...]

{{.App.Help|Wrap 0}}
{{end -}}
{{with Examples $command -}}
Examples:
{{range .}}  {{.}}
{{end}}
{{end -}}
{{with Commands .App $command -}}
Commands:
{{.|FormatTwoColumns}}
{{end -}}
{{with .Context.Args -}}
Args:
{{.|ArgsToTwoColumns|FormatTwoColumns}}
{{end -}}
{{range Flags .App $command .Context.Flags -}}
{{.Title}}:
{{.Flags|FlagsToTwoColumns|FormatTwoColumns}}
{{end -}}
{{with Uses .App $command -}}
{{Whose}} that change the result, explained by {{Explains}}:
{{.|FormatTwoColumns}}
{{end -}}
{{if not $command -}}
{{Program}} COMMAND --help explains a command{{if Starts}}, and {{Explains}} the flags of the operator{{end}}.
{{end -}}
`

// help is the data for the help of a program.
type help struct {
	*headings
	program  string // as the user types it
	commands []subcommand
}

// show installs the help in a program.
func (h help) show(app *kingpin.Application) {
	app.HelpFlag.Help("Show this help.")
	app.UsageFuncs(template.FuncMap{
		"Flags": h.flags, "Uses": h.uses, "Commands": h.list,
		"Examples": h.examples, "Program": func() string { return h.program },
		"Whose": func() string {
			if starts(app.Model()) {
				return "Flags of the operator"
			}
			return "Flags of all commands"
		},
		"Starts": func() bool { return starts(app.Model()) },
		"Explains": func() string {
			if starts(app.Model()) {
				return h.program + " " + startCommand + " --help"
			}
			return h.program + " --help"
		},
	})
	app.UsageTemplate(helpTemplate)
}

// starts reports whether a program has a start command, which uses all flags.
func starts(app *kingpin.ApplicationModel) bool {
	return slices.ContainsFunc(app.Commands, func(c *kingpin.CmdModel) bool { return c.Name == startCommand })
}

// aboutTheProgram are the flags that do not belong to the operator.
var aboutTheProgram = []string{"help", "version", "short-version"}

// flagGroup holds the flags below one heading.
type flagGroup struct {
	Title string
	Flags []*kingpin.FlagModel
}

// flags returns the flags that the help explains, below their headings: those of a command, or
// all of the program. If the program has a start command, its help has the flags of the
// operator.
func (h help) flags(app *kingpin.ApplicationModel, command *kingpin.CmdModel, all []*kingpin.FlagModel) []flagGroup {
	switch {
	case command == nil && starts(app):
		return h.grouped(slices.DeleteFunc(slices.Clone(all), func(f *kingpin.FlagModel) bool { return !slices.Contains(aboutTheProgram, f.Name) }))
	case command == nil || command.FullCommand == startCommand:
		return h.grouped(all)
	}
	own := slices.DeleteFunc(slices.Clone(all), func(f *kingpin.FlagModel) bool {
		return f.Hidden || slices.ContainsFunc(app.Flags, func(of *kingpin.FlagModel) bool { return of.Name == f.Name })
	})
	if len(own) == 0 {
		return nil
	}
	return []flagGroup{{"Flags", own}}
}

// grouped returns flags below their headings. Flags without a heading come first.
func (h *headings) grouped(flags []*kingpin.FlagModel) []flagGroup {
	out := []flagGroup{{Title: "Flags"}}
	for _, title := range h.titles {
		out = append(out, flagGroup{Title: title})
	}
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		at := slices.Index(h.titles, h.of[f.Name]) + 1
		out[at].Flags = append(out[at].Flags, f)
	}
	return slices.DeleteFunc(out, func(g flagGroup) bool { return len(g.Flags) == 0 })
}

// uses returns the flags of the program that change the result of a command, by heading.
func (h help) uses(app *kingpin.ApplicationModel, command *kingpin.CmdModel) (rows [][2]string) {
	if command == nil {
		return nil
	}
	uses := find(h.commands, command.FullCommand).uses
	for _, g := range h.grouped(app.Flags) {
		var names []string
		for _, f := range g.Flags {
			if slices.Contains(uses, g.Title) || slices.Contains(uses, "--"+f.Name) {
				names = append(names, "--"+f.Name)
			}
		}
		if len(names) > 0 {
			rows = append(rows, [2]string{cmp.Or(strings.TrimSuffix(g.Title, " flags"), g.Title), strings.Join(names, ", ")})
		}
	}
	return rows
}

// list returns the commands of the program, or the subcommands of a command, each with the first
// sentence of its help, up to a colon.
func (h help) list(app *kingpin.ApplicationModel, command *kingpin.CmdModel) (rows [][2]string) {
	all := app.FlattenedCommands()
	if command != nil {
		all = command.FlattenedCommands()
	}
	for _, c := range all {
		if !c.Hidden {
			sentence, _, _ := strings.Cut(c.Help, ". ")
			sentence, _, _ = strings.Cut(sentence, ": ")
			rows = append(rows, [2]string{c.FullCommand, strings.TrimSuffix(sentence, ".") + "."})
		}
	}
	return rows
}

// examples returns example command lines with aligned comments.
func (h help) examples(command *kingpin.CmdModel) (out []string) {
	if command == nil {
		return nil
	}
	width := 0
	lines := find(h.commands, command.FullCommand).example
	for _, line := range lines {
		before, _, _ := strings.Cut(line, " # ")
		width = max(width, len(before))
	}
	for _, line := range lines {
		before, comment, _ := strings.Cut(line, " # ")
		out = append(out, strings.TrimSpace(h.program+" "+before+strings.Repeat(" ", width-len(before))+"  # "+comment))
	}
	return out
}
