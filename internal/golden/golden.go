// Package golden runs golden tests, each described by one readable file.
//
// A file is in txtar form: a comment that states the purpose, inputs as a user would
// write them, and every expected output under want/:
//
//	# enable_compression is written from 2.49.0 on.
//	-- in.yaml --
//	kind: ServiceMonitor
//	...
//	-- want/2.48.1.dropped --
//	scrape_configs[0].enable_compression needs >= 2.49.0
//
// The file name is the name of the test. "go test -update" writes the actual outputs into
// the files; review the diff before keeping it.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what was got into the golden files")

// Want is the prefix of the expected outputs in a file.
const Want = "want/"

// Case is one golden file.
type Case struct {
	// Comment is the text before the first file.
	Comment string
	files   []txtar.File
}

// Input returns the content of a file outside of want/.
func (c Case) Input(name string) (content []byte, ok bool) {
	for _, f := range c.files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Inputs returns the names outside of want/ in file order.
func (c Case) Inputs() (names []string) {
	for _, f := range c.files {
		if !strings.HasPrefix(f.Name, Want) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Wants returns the names below want/, without that prefix, in file order.
func (c Case) Wants() (names []string) {
	for _, f := range c.files {
		if name, ok := strings.CutPrefix(f.Name, Want); ok {
			names = append(names, name)
		}
	}
	return names
}

// Unpack writes the inputs, without those that are excluded, to a temporary folder and returns it
// and their names.
func (c Case) Unpack(t *testing.T, exclude ...string) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range c.Inputs() {
		if slices.Contains(exclude, name) {
			continue
		}
		text, _ := c.Input(name)
		names = append(names, name)
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, names
}

// Enter unpacks the inputs like Unpack, makes the folder the working directory and returns the names
// of its files and folders, as a user would give them to a command.
func (c Case) Enter(t *testing.T) (names []string) {
	t.Helper()
	dir, names := c.Unpack(t)
	t.Chdir(dir)
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, "/")
	}
	return slices.Compact(names)
}

// Open reads one golden file, for tests that share inputs.
func Open(path string) (Case, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return Case{}, err
	}
	return Case{Comment: string(archive.Comment), files: archive.Files}, nil
}

// Run tests every file that matches the pattern. render returns the output for
// a name below want/ (without that prefix); an error fails the test.
func Run(t *testing.T, pattern string, render func(t *testing.T, c Case, name string) ([]byte, error)) {
	t.Helper()
	pattern, err := filepath.Abs(pattern) // render may change the working directory
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files match %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if compare(t, archive, render) && *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// compare renders each expected output and replaces those that differ in the archive.
func compare(t *testing.T, archive *txtar.Archive, render func(*testing.T, Case, string) ([]byte, error)) (changed bool) {
	c := Case{Comment: string(archive.Comment), files: archive.Files}
	wanted := 0
	for i, f := range archive.Files {
		name, ok := strings.CutPrefix(f.Name, Want)
		if !ok {
			continue
		}
		wanted++
		got, err := render(t, c, name)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if len(got) > 0 && !bytes.HasSuffix(got, []byte("\n")) {
			got = append(bytes.Clone(got), '\n') // txtar requires a final newline
		}
		if bytes.Equal(got, f.Data) {
			continue
		}
		changed = true
		if !*update {
			t.Errorf("%s\n%s", f.Name, Diff(string(f.Data), string(got)))
		}
		archive.Files[i].Data = got
	}
	if wanted == 0 {
		t.Errorf("the file has nothing under %s", Want)
	}
	return changed
}

// Diff returns a line diff: "-" is only in want, "+" only in got. It computes a longest
// common subsequence in quadratic time and space, so it is for test output and not for
// large files.
func Diff(want, got string) string {
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	line := func(mark, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%s %s\n", mark, strings.TrimSuffix(text, "\n"))
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line(" ", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			line("-", a[i])
			i++
		default:
			line("+", b[j])
			j++
		}
	}
	return out.String()
}
