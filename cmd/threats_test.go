package cmd_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// heldBy matches a link to a test, with its name, or to a golden file.
var heldBy = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// Each threat in docs/threats.md is prevented by tests that exist.
func TestThreats(t *testing.T) {
	const page = "docs/threats.md"
	text, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	threats := 0
	held := false // the current table has the column
	for n, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "|") {
			held = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		last := cells[len(cells)-1]
		switch {
		case last == "held by":
			held = true
			continue
		case !held, strings.HasPrefix(line, "|--"):
			continue
		}
		threats++
		links := heldBy.FindAllStringSubmatch(last, -1)
		if len(cells) != 3 || len(links) == 0 {
			t.Errorf("%s:%d: no test holds this line: %s", page, n+1, line)
		}
		for _, link := range links {
			if fault := heldFault(link[1], path.Join(path.Dir(page), link[2])); fault != "" {
				t.Errorf("%s:%d: %s", page, n+1, fault)
			}
		}
	}
	if threats < 40 {
		t.Errorf("only %d threats", threats)
	}
}

// heldFault returns why a link does not lead to a test or golden file, or "".
func heldFault(name, file string) string {
	text, err := os.ReadFile(filepath.Join(top, file))
	switch {
	case err != nil:
		return "no file " + file
	case strings.HasSuffix(file, ".txtar") && path.Base(file) == name:
		return ""
	case strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "\nfunc "+name+"("):
		return ""
	}
	return file + " has no test " + name
}
