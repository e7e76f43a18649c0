package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestRender runs the command in a folder with the files of a golden file.
//
//	args               the arguments after "render", one to a line
//	want/stdout        what it prints
//	want/objects       kinds and names of the objects that it prints
//	want/statefulsets  the objects of this kind alone
//	want/stderr        what it says
//	want/code          the exit code
func TestRender(t *testing.T) {
	golden.Run(t, "testdata/render/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir := t.TempDir()
		args := []string{"render"}
		for _, input := range c.Inputs() {
			text, _ := c.Input(input)
			if input == "args" {
				args = append(args, strings.Split(strings.TrimSpace(string(text)), "\n")...)
				continue
			}
			path := filepath.Join(dir, input)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				return nil, err
			}
		}
		home, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		t.Chdir(dir)
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), args, &stdout, &stderr)
		t.Chdir(home)
		switch name {
		case "stdout":
			return stdout.Bytes(), nil
		case "stderr":
			return stderr.Bytes(), nil
		case "code":
			return fmt.Appendln(nil, code), nil
		case "objects":
			return outline(stdout.String()), nil
		case "statefulsets":
			return only("StatefulSet", stdout.String()), nil
		}
		return nil, fmt.Errorf("nothing is called %s", name)
	})
}

// outline keeps kind and name of each object.
func outline(manifests string) []byte {
	var out strings.Builder
	kind := ""
	for line := range strings.SplitSeq(manifests, "\n") {
		if text, ok := strings.CutPrefix(line, "kind: "); ok {
			kind = text
		}
		if text, ok := strings.CutPrefix(line, "  name: "); ok && kind != "" {
			fmt.Fprintf(&out, "%s %s\n", kind, text)
			kind = ""
		}
	}
	return []byte(out.String())
}

// inputHash is another one in every version of the operator.
var inputHash = regexp.MustCompile(`(?m)^ *prometheus-operator-input-hash: .*\n`)

// only keeps the documents of a kind.
func only(kind, manifests string) []byte {
	var out strings.Builder
	for doc := range strings.SplitSeq(manifests, "---\n") {
		if strings.Contains(doc, "\nkind: "+kind+"\n") {
			out.WriteString(inputHash.ReplaceAllString(doc, ""))
		}
	}
	return []byte(out.String())
}
