package programs

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
)

// sourcesBelowRoot is this package's folder, relative to the root of the tree.
const sourcesBelowRoot = "internal/cluster/programs"

// ErrNoSourceTree means that the programs' go.mod files are not on this machine.
var ErrNoSourceTree = errors.New("source tree not found: run inside it, or set KUBEBUILDER_ASSETS to a folder with the programs")

// Root returns the root of the source tree. It searches upward from the folder in which
// this file was compiled, the working directory, and the executable's folder.
//
// The go.mod files cannot be embedded: a folder with a go.mod is not part of the module
// that would embed it.
func Root() (string, error) {
	var starts []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) { // not absolute with -trimpath
		starts = append(starts, filepath.Dir(file))
	}
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		if root := rootAbove(dir); root != "" {
			return root, nil
		}
	}
	return "", ErrNoSourceTree
}

func rootAbove(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, sourcesBelowRoot, "kubernetes", "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// pinnedVersion returns the version of the source's module in its go.mod.
func pinnedVersion(sources string, src source) (string, error) {
	if src.module == "" {
		return "v1", nil
	}
	file := filepath.Join(sources, src.folder, "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read pinned version: %w", err)
	}
	m := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(src.module) + `\s+(v\S+)`).FindSubmatch(content)
	if m == nil {
		return "", fmt.Errorf("%s: no version of %s", file, src.module)
	}
	return string(m[1]), nil
}

// staticallyLinked reports whether the program runs without a dynamic loader.
func staticallyLinked(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}
