package commands

import (
	"strings"
	"testing"
)

// TestLintDocs runs the example of docs/lint.md.
func TestLintDocs(t *testing.T) {
	page, dir := examples(t, "../../docs/lint.md")
	stdout, stderr, code := runIn(t, dir, []string{"lint", "-f", "manifests/"})
	if code != 1 || len(stderr) > 0 || !strings.Contains(page, "```\n"+string(stdout)+"```") {
		t.Errorf("exit status %d, %s, not on the page:\n%s", code, stderr, stdout)
	}
}
