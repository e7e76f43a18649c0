package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	testprograms "github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// The committed pages match newly generated ones.
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

// difference lists the lines that only one of two texts contains.
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

// The page of supported versions has each release of a server that tests build.
func TestTriedReleasesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range products {
		for _, tried := range p.tried {
			for _, name := range tried.programs {
				listed[name] = true
			}
		}
	}
	for _, name := range testprograms.Names() {
		server, _, _ := strings.Cut(name, "-")
		switch server {
		case "prometheus", "promtool", "alertmanager", "amtool", "thanos", "helm":
			if !listed[name] {
				t.Errorf("%s is built for tests, and not on the page", name)
			}
		}
	}
}

func TestReadUsage(t *testing.T) {
	u := readUsage(`usage: operator [<flags>] <command> [<args> ...]

Runs things.

Examples:
  operator start  # run it

Commands:
  help        Show help.
  start       Run it.
  crds apply  Install things.

Flags:
  -h, --[no-]help     Show help.
      --level="info"  What to log: a|b.
      --a-flag-with-a-long-name=VALUE ...
                      Meaning.

Flags of the operator that change the result, explained by operator start --help:
  Others  --named-only

operator COMMAND --help explains a command, and operator start --help the flags of the operator.
`)
	want := usage{
		about: "Runs things.",
		flags: []flag{
			{"-h, --[no-]help", "Show help."},
			{`--level="info"`, "What to log: a|b."},
			{"--a-flag-with-a-long-name=VALUE …", "Meaning."},
		},
		commands: []string{"start", "crds apply"},
	}
	if !reflect.DeepEqual(u, want) {
		t.Errorf("read %+v\nwant %+v", u, want)
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
