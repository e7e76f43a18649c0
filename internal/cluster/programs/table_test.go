package programs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row can be built from the tree: a go.mod pins its module and has a tool line for
// its package.
func TestTableMatchesTheModules(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			src := table[name]
			mod, err := os.ReadFile(filepath.Join(src.folder, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			if src.pkg == "." {
				if _, err := os.Stat(filepath.Join(src.folder, "main.go")); err != nil {
					t.Error(err)
				}
			} else if !strings.Contains(string(mod), src.pkg+"\n") {
				t.Errorf("no tool line for %s", src.pkg)
			}
			text, err := pinnedVersion(".", src)
			if err != nil {
				t.Fatal(err)
			}
			if len(src.versionArgs) == 0 || src.folder == "prometheus" { // release 3.x is module version 0.3xx
				return
			}
			v, ok := parseVersion(text)
			if !ok || v.compare(src.from) < 0 || v.compare(src.below) >= 0 {
				t.Errorf("pinned %s is outside %s..%s", text, src.from, src.below)
			}
		})
	}
}

func TestExpandFillsVersions(t *testing.T) {
	got := expand("-X a=v{v} -X minor={minor}", "v1.34.4")
	if want := "-X a=v1.34.4 -X minor=34"; got != want {
		t.Errorf("expand = %q, want %q", got, want)
	}
}

func TestPinned(t *testing.T) {
	f := &Finder{Sources: "."}
	for name, want := range map[string]string{"prometheus": "3.13.2", "promtool-2.47": "2.47.2", "amtool-0.21": "0.21.0"} {
		if got, err := f.Pinned(name); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %s", name, got, err, want)
		}
	}
	if _, err := f.Pinned("no-such"); err == nil {
		t.Error("an unknown program has a release")
	}
	if _, err := new(Finder).Pinned("prometheus"); !errors.Is(err, ErrNoSourceTree) {
		t.Errorf("without a source tree: %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]version{
		"etcd Version: 3.4.23\nGit SHA: Not provided":              {3, 4, 23},
		"Kubernetes v1.34.4":                                       {1, 34, 4},
		"prometheus, version 3.13.2 (branch: , revision: abc)":     {3, 13, 2},
		"Client Version: v1.32.4-dispatcher\nKustomize Version: 5": {1, 32, 4},
	} {
		if got, ok := parseVersion(text); !ok || got != want {
			t.Errorf("parseVersion(%q) = %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "no version", "3.4"} {
		if got, ok := parseVersion(text); ok {
			t.Errorf("parseVersion(%q) = %v, want none", text, got)
		}
	}
}

func TestRootIsFoundFromTheCompiledFile(t *testing.T) {
	t.Chdir(t.TempDir())
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, sourcesBelowRoot, "table.go")); err != nil {
		t.Error(err)
	}
}

func TestBuildOrderPutsSlowFoldersLast(t *testing.T) {
	got := buildOrder(map[string][]string{"kubernetes": nil, "etcd": nil, "prometheus": nil, "coredns": nil, "pause": nil})
	if want := "etcd pause coredns prometheus kubernetes"; strings.Join(got, " ") != want {
		t.Errorf("buildOrder = %v, want %s", got, want)
	}
}
