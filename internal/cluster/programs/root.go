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

// sourcesBelowRoot is this package's folder, seen from the root of the tree.
const sourcesBelowRoot = "internal/cluster/programs"

// ErrNoSourceTree means the programs' go.mod files are not on this machine.
var ErrNoSourceTree = errors.New("source tree not found: run inside it, or set KUBEBUILDER_ASSETS to a folder with the programs")

// Root finds the root of the source tree: from where this file was compiled,
// else from the working directory or the executable's folder upwards.
//
// The go.mod files cannot be embedded: a folder with a go.mod is outside the
// module that would embed it.
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

// pinnedVersion reads the version of the source's module from its go.mod.
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

// staticallyLinked reports whether the program runs without a loader.
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
