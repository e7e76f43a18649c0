package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesAreCurrent writes all pages anew and compares.
func TestPagesAreCurrent(t *testing.T) {
	fresh := t.TempDir()
	if err := run(t.Context(), []string{fresh}, io.Discard); err != nil {
		t.Fatal(err)
	}
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		want, err := os.ReadFile(filepath.Join(fresh, page.name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(top, "docs", "reference", page.name)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/reference/%s is not current; run make generate\n%s", page.name, difference(string(got), string(want)))
		}
	}
}

// difference lists the lines that only one of two texts has.
func difference(got, want string) string {
	var out strings.Builder
	only := func(mark, a, b string) {
		known := map[string]bool{}
		for line := range strings.Lines(b) {
			known[line] = true
		}
		for line := range strings.Lines(a) {
			if !known[line] {
				out.WriteString(mark + line)
			}
		}
	}
	only("- ", got, want)
	only("+ ", want, got)
	return out.String()
}

func TestReadManual(t *testing.T) {
	m := readManual(`.TH operator 1  ""
.SH "NAME"
operator
.SH "SYNOPSIS"
.TP
\fBoperator [<flags>] <command>\fR

.SH "DESCRIPTION"
Runs things.
.SH "OPTIONS"
.TP
\fB-h, --help\fR
Show help.
.TP
\fB--level="info"\fR
What to log: a|b.
.SH "COMMANDS"
.SS
\fBrender --file=FILE [<flags>]\fR
.PP
Print things.
.TP
\fB-f, --file=FILE\fR
File to read.
`)
	if m.about != "Runs things." || len(m.flags) != 2 || len(m.commands) != 1 {
		t.Fatalf("read %+v", m)
	}
	if f := m.flags[1]; f.name != `--level="info"` || f.about != "What to log: a|b." {
		t.Errorf("flag %+v", f)
	}
	c := m.commands[0]
	if c.name != "render" || c.about != "Print things." || len(c.flags) != 1 || c.flags[0].name != "-f, --file=FILE" {
		t.Errorf("command %+v", c)
	}
}

func TestCell(t *testing.T) {
	if got, want := cell("a|b\n<c>  d"), `a\|b &lt;c&gt; d`; got != want {
		t.Errorf("cell = %q, want %q", got, want)
	}
}

func TestPagesOfMetricsNeedFinishedWork(t *testing.T) {
	for _, name := range programNames {
		if settled[name] == "" {
			t.Errorf("%s: no metric says that it has done its work", name)
		}
	}
}
