package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestLint runs the command in a folder with the files of a golden file.
//
//	args           the arguments after "lint", one to a line
//	stdin          its standard input
//	want/<format>  what it prints in that format; "stderr" what it says
//	want/code      the exit code
func TestLint(t *testing.T) {
	golden.Run(t, "testdata/lint/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir := t.TempDir()
		args := []string{"lint"}
		for _, input := range c.Inputs() {
			text, _ := c.Input(input)
			if input == "args" {
				args = append(args, strings.Split(strings.TrimSpace(string(text)), "\n")...)
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, input), text, 0o600); err != nil {
				return nil, err
			}
		}
		switch name {
		case "json", "sarif", "github":
			args = append(args, "--format="+name)
		}
		stdout, stderr, code := lintIn(t, dir, args)
		switch name {
		case "code":
			return fmt.Appendln(nil, code), nil
		case "stderr":
			return stderr, nil
		case "json", "sarif":
			if !json.Valid(stdout) {
				return nil, fmt.Errorf("not JSON:\n%s", stdout)
			}
		}
		return stdout, nil
	})
}

// lintIn runs the command in a folder; a file "stdin" there is its input.
func lintIn(t *testing.T, dir string, args []string) (stdout, stderr []byte, code int) {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "stdin")); err == nil {
		defer f.Close()
		real := os.Stdin
		os.Stdin = f
		defer func() { os.Stdin = real }()
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	t.Chdir(home)
	return out.Bytes(), errs.Bytes(), code
}
