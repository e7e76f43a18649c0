package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

var (
	kindOf        = regexp.MustCompile(`(?m)^kind: (\S+)$`)
	nameLine      = regexp.MustCompile(`(?m)^  name: (\S+)$`)
	namespaceLine = regexp.MustCompile(`(?m)^  namespace: (\S+)$`)
)

// kubectl applies the files of a folder in lexical order, so a Namespace must come before its objects.
func TestExamplesApplyInOrder(t *testing.T) {
	root, err := programs.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "deploy", "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %q, %v", files, err)
	}
	there := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			kind, name := kindOf.FindStringSubmatch(doc), nameLine.FindStringSubmatch(doc)
			if kind == nil || name == nil {
				t.Fatalf("%s: no kind or name in\n%s", file, doc)
			}
			if kind[1] == "Namespace" {
				there[name[1]] = true
				continue
			}
			if ns := namespaceLine.FindStringSubmatch(doc); ns == nil || !there[ns[1]] {
				t.Errorf("%s: %s %s: its namespace is not made before it", filepath.Base(file), kind[1], name[1])
			}
		}
	}
}
