package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

const flagsIntro = `# Flags

Written by ` + "`make generate`" + ` from what the programs say about themselves (` + "`--help`" + `).
` + "`VERSION`" + ` stands for the version of the program. A value after ` + "`=`" + ` in quotes or digits is
the default; a word in capitals stands for a value and means that there is no default.
` + "`operator` and `rules-reloader`" + ` take one dash before a long name, too.
`

// flagsPage lists the flags of every program.
func flagsPage(ctx context.Context, p *programs) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(flagsIntro)
	for _, name := range programNames {
		text, err := p.output(ctx, name, "--help-man")
		if err != nil {
			return nil, err
		}
		m := readManual(string(text))
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n", name, m.about)
		writeFlags(&out, m.flags)
		for _, c := range m.commands {
			if c.name == "help" {
				continue
			}
			fmt.Fprintf(&out, "\n### %s %s\n\n%s\n", name, c.name, c.about)
			if len(c.flags) > 0 {
				out.WriteString("\n")
				writeFlags(&out, c.flags)
			}
		}
	}
	return out.Bytes(), nil
}

func writeFlags(out *bytes.Buffer, flags []entry) {
	out.WriteString("| flag | meaning |\n|---|---|\n")
	for _, f := range flags {
		fmt.Fprintf(out, "| `%s` | %s |\n", f.name, cell(f.about))
	}
}

// cell makes text fit into one cell of a table.
func cell(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)
}

// manual is a manual page as kingpin prints it.
type manual struct {
	about    string
	flags    []entry
	commands []entry
}

// entry is a flag, or a command with its flags.
type entry struct {
	name, about string
	flags       []entry
}

// readManual reads the troff of a manual page: ".SH" begins a section, ".SS" a
// command, ".TP" a flag whose name stands in bold on the next line.
func readManual(text string) manual {
	var (
		m       manual
		section string
		flags   = &m.flags // where flags go
		about   = new(string)
	)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, ".SH "):
			section, about = strings.Trim(line[len(".SH "):], `"`), new(string)
			if section == "DESCRIPTION" {
				about = &m.about
			}
		case strings.HasPrefix(line, ".SS"):
			i++
			m.commands = append(m.commands, entry{name: commandName(lines[i])})
			c := &m.commands[len(m.commands)-1]
			flags, about = &c.flags, &c.about
		case line == ".TP" && section != "SYNOPSIS":
			i++
			*flags = append(*flags, entry{name: bold(lines[i])})
			about = &(*flags)[len(*flags)-1].about
		case line == ".PP":
		default:
			*about = strings.TrimSpace(*about + " " + line)
		}
	}
	return m
}

// bold is the text of a line without the marks for bold type.
func bold(line string) string {
	return strings.NewReplacer(`\fB`, "", `\fR`, "").Replace(line)
}

// commandName is the name in the heading of a command: its flags follow it.
func commandName(line string) string {
	name, _, _ := strings.Cut(bold(line), " [")
	name, _, _ = strings.Cut(name, " --")
	return strings.TrimSpace(name)
}
