package commands

import (
	"strings"
	"testing"
)

// The examples of docs/lint.md have the documented output.
func TestLintDocs(t *testing.T) {
	page, dir := examples(t, "../../docs/lint.md")
	for folder, want := range map[string]int{"manifests/": 1, "app/": 0} {
		stdout, stderr, code := runIn(t, dir, []string{"lint", "-f", folder})
		if code != want || len(stderr) > 0 || !strings.Contains(page, "```\n"+string(stdout)+"```") {
			t.Errorf("%s: exit status %d, %s, not on the page:\n%s", folder, code, stderr, stdout)
		}
	}
}
