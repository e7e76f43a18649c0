package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// top is the root of the repository as seen from this package.
const top = ".."

// The root of the repository contains only what the README explains.
func TestTopLevel(t *testing.T) {
	allowed := []string{
		".ci", ".dockerignore", ".gitignore", ".version", "CHANGELOG.md", "Dockerfile.operator", "Dockerfile.reloader",
		"LICENSE", "Makefile", "README.md", "cmd", "deploy", "docs", "go.work", "go.work.sum", "internal", "operator", "reloaders",
	}
	found := map[string]bool{}
	for _, f := range tracked(t) {
		entry, _, _ := strings.Cut(f.name, "/")
		if !slices.Contains(allowed, entry) && !found[entry] {
			t.Errorf("%s does not belong into the root of the repository", entry)
		}
		found[entry] = true
	}
	for _, must := range []string{"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "go.work"} {
		if !found[must] {
			t.Errorf("%s is missing", must)
		}
	}
}

// A file is executable if and only if it names its interpreter.
func TestScriptsCanRun(t *testing.T) {
	for _, f := range tracked(t) {
		script := bytes.HasPrefix(f.text, []byte("#!"))
		if executable := f.mode == "100755"; script != executable {
			t.Errorf("%s: begins with #!: %v, is executable: %v", f.name, script, executable)
		}
	}
}

// The repository contains no markers for unfinished work.
func TestNothingIsLeftOpen(t *testing.T) {
	// Split, so that this file does not match.
	open := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|(?i)not ` + `implemented`)
	for _, f := range tracked(t) {
		if strings.HasSuffix(f.name, ".go") {
			report(t, f, open)
		}
	}
}

// The repository has no references to a particular machine. Tests may use inputs outside
// of it, and are skipped without them.
func TestNoTracesOfAWorkplace(t *testing.T) {
	traces := regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/(work|home|root|Users)/|GOPROXY *= *https?:`)
	shared := regexp.MustCompile(`\.\./sha` + `red\b`)
	for _, f := range tracked(t) {
		report(t, f, traces)
		if !strings.HasSuffix(f.name, "_test.go") {
			report(t, f, shared)
		}
	}
}

// The lists of tests in the Makefile name tests that exist, and those that the race detector excludes run without it.
func TestListsOfTests(t *testing.T) {
	var makefile string
	exact, all := map[string]bool{}, map[string]bool{}
	test := regexp.MustCompile(`(?m)^func Test(\w+)\(`)
	for _, f := range tracked(t) {
		if f.name == "Makefile" {
			makefile = strings.ReplaceAll(string(f.text), "\\\n", " ")
		}
		if !strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		starts := test.FindAllSubmatchIndex(f.text, -1)
		for i, at := range starts {
			end := len(f.text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			name := string(f.text[at[2]:at[3]])
			all[name] = true
			if bytes.Contains(f.text[at[0]:end], []byte("budgettest."+"Exact(t)")) {
				exact[name] = true
			}
		}
	}
	for _, list := range []string{"UNRACED_NAMES", "CONCURRENT", "LASTING"} {
		line := regexp.MustCompile(`(?m)^` + list + ` +:= (.*)$`).FindStringSubmatch(makefile)
		if line == nil {
			t.Fatalf("the Makefile has no list %s", list)
		}
		names := strings.Fields(line[1])
		for _, name := range names {
			if !strings.HasSuffix(name, ".*") && !all[name] {
				t.Errorf("%s of the Makefile names Test%s, which does not exist", list, name)
			}
		}
		for name := range exact {
			if list == "UNRACED_NAMES" && !slices.Contains(names, name) {
				t.Errorf("Test%s is skipped with the race detector: name it in UNRACED_NAMES of the Makefile, so that continuous integration runs it without", name)
			}
		}
	}
}

func report(t *testing.T, f trackedFile, pattern *regexp.Regexp) {
	t.Helper()
	for i, line := range bytes.Split(f.text, []byte("\n")) {
		if pattern.Match(line) {
			t.Errorf("%s:%d: %s", f.name, i+1, bytes.TrimSpace(line))
		}
	}
}

// trackedFile is a tracked file of the repository.
type trackedFile struct {
	name string // slash-separated path from the root
	mode string // as in git's output: 100644 or 100755
	text []byte // empty for binary files
}

// tracked returns the files in the git index.
func tracked(t *testing.T) []trackedFile {
	t.Helper()
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		t.Skip("not a git checkout")
	}
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "--stage", "-z") // the checkout may belong to another user
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	var files []trackedFile
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		mode, _, _ := strings.Cut(about, " ")
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // deleted but not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			text = nil
		}
		files = append(files, trackedFile{name, mode, text})
	}
	return files
}
