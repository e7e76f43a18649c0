package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLintDocs runs the example of docs/lint.md.
func TestLintDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile("(?s)```yaml\n(# (manifests/\\S+)\n.*?)```").FindAllStringSubmatch(string(page), -1) {
		name := filepath.Join(dir, m[2])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(m[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code := runIn(t, dir, []string{"lint", "-f", "manifests/"})
	if code != 1 || len(stderr) > 0 || !strings.Contains(string(page), "```\n"+string(stdout)+"```") {
		t.Errorf("exit status %d, %s, not on the page:\n%s", code, stderr, stdout)
	}
}
