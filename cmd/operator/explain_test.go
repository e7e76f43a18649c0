package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestExplain runs the command on the file in.yaml of a golden file.
//
//	args          the arguments after "explain", one to a line
//	want/text     what it prints; "json" with --format=json, "stderr" what it says
//	want/code     the exit code
func TestExplain(t *testing.T) {
	golden.Run(t, "testdata/explain/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir := t.TempDir()
		args := []string{"explain"}
		for _, input := range c.Inputs() {
			text, _ := c.Input(input)
			if input == "args" {
				args = append(args, strings.Split(strings.TrimSpace(string(text)), "\n")...)
				continue
			}
			args = append(args, "-f", input)
			if err := os.WriteFile(filepath.Join(dir, input), text, 0o600); err != nil {
				return nil, err
			}
		}
		if name == "json" {
			args = append(args, "--format=json")
		}
		stdout, stderr, code := lintIn(t, dir, args)
		switch name {
		case "code":
			return fmt.Appendln(nil, code), nil
		case "stderr":
			return stderr, nil
		case "json":
			if !json.Valid(stdout) {
				return nil, fmt.Errorf("not JSON:\n%s", stdout)
			}
		}
		return stdout, nil
	})
}

func TestExplainWithoutClusterSaysWhereItLooked(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	_, stderr, code := lintIn(t, dir, []string{"explain", "smon", "demo/web", "--kubeconfig=" + filepath.Join(dir, "none")})
	if code != 2 || !strings.Contains(string(stderr), "none: no such file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
