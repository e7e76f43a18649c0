package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

const flagsIntro = `# Flags

Written by ` + "`make generate`" + ` from what the programs print with ` + "`--help`" + `. ` + "`VERSION`" + ` stands for
the version of the program. What follows ` + "`=`" + ` is the default; a word in capitals stands for a value and means that
there is no default. ` + "`[no-]`" + ` marks switches, ` + "`…`" + ` what may be repeated. ` + "`operator` and `rules-reloader`" + `
take one dash before a long name, too.
`

// flagsPage lists the flags of every program.
func flagsPage(ctx context.Context, p *programs) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(flagsIntro)
	for _, name := range programNames {
		program, err := p.usage(ctx, name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", name, program.about)
		writeFlags(&out, program.flags)
		for _, c := range program.commands {
			command, err := p.usage(ctx, name, strings.Fields(c)...)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "\n### %s %s\n\n%s\n", name, c, command.about)
			writeFlags(&out, slices.DeleteFunc(command.flags, func(f flag) bool { return slices.Contains(program.flags, f) }))
		}
	}
	return out.Bytes(), nil
}

func (p *programs) usage(ctx context.Context, name string, command ...string) (usage, error) {
	text, err := p.output(ctx, name, append(command, "--help")...)
	if err != nil {
		return usage{}, err
	}
	u := readUsage(text)
	if u.about == "" || len(u.flags) == 0 {
		return usage{}, fmt.Errorf("%s %v: no usage in\n%s", name, command, text)
	}
	return u, nil
}

func writeFlags(out *bytes.Buffer, flags []flag) {
	if len(flags) == 0 {
		return
	}
	out.WriteString("\n| flag | meaning |\n|---|---|\n")
	for _, f := range flags {
		fmt.Fprintf(out, "| `%s` | %s |\n", f.name, cell(f.about))
	}
}

// cell makes text fit into one cell of a table.
func cell(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
}

// usage is what a program, or one of its commands, prints with --help.
type usage struct {
	about    string
	flags    []flag
	commands []string // names with their parents: "crds apply"
}

type flag struct{ name, about string }

// readUsage reads the text as kingpin prints it when no line needs a break:
//
//	usage: operator [<flags>] <command> [<args> ...]
//
//	What it does.
//
//	Flags:
//	      --short=X  Meaning.
//	      --a-longer-flag=VALUE
//	                 Meaning.
//
//	Other flags:
//	      --another  Meaning.
//
//	Commands:
//	crds apply [<flags>]
//	    What it does.
func readUsage(text string) usage {
	var (
		u       usage
		section string
	)
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(line, "usage: "):
		case line == "Commands:\n", line == "Args:\n":
			section = trimmed
		case line == "Flags:\n", !strings.HasPrefix(line, " ") && strings.HasSuffix(line, " flags:\n"):
			section = "Flags:"
		case section == "":
			u.about = strings.TrimSpace(u.about + " " + trimmed)
		case section == "Flags:" && strings.HasPrefix(trimmed, "-"):
			name, about, _ := strings.Cut(trimmed, "  ")
			name = strings.ReplaceAll(name, " ...", " …")
			u.flags = append(u.flags, flag{name, strings.TrimSpace(about)})
		case section == "Flags:":
			last := &u.flags[len(u.flags)-1]
			last.about = strings.TrimSpace(last.about + " " + trimmed)
		case !strings.HasPrefix(line, " "):
			if name := commandName(trimmed); name != "help" {
				u.commands = append(u.commands, name)
			}
		}
	}
	return u
}

// commandName is the name in the heading of a command, without its arguments
// and the star of a default.
func commandName(heading string) string {
	var name []string
	for word := range strings.FieldsSeq(heading) {
		if strings.HasPrefix(word, "[") || strings.HasPrefix(word, "<") || strings.HasPrefix(word, "-") {
			break
		}
		name = append(name, strings.TrimSuffix(word, "*"))
	}
	return strings.Join(name, " ")
}
