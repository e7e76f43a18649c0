package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestExplain runs the command on the file in.yaml of a golden file.
//
//	args          the arguments after "explain", one per line
//	want/text     the output; "json" with --format=json, "stderr" for standard error
//	want/code     the exit code
func TestExplain(t *testing.T) {
	golden.Run(t, "testdata/explain/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir, args, names := unpacked(t, c)
		args = append([]string{"explain"}, args...)
		for _, name := range names {
			args = append(args, "-f", name)
		}
		if name == "json" {
			args = append(args, "--format=json")
		}
		return printed(t, dir, args, name)
	})
}

func TestExplainWithoutClusterSaysWhereItLooked(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	_, stderr, code := runIn(t, dir, []string{"explain", "smon", "demo/web", "--kubeconfig=" + filepath.Join(dir, "none")})
	if code != 2 || !strings.Contains(string(stderr), "none: no such file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
