package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

const tempPrefix = "firekeeper-cluster-"

// tempDir creates a folder for a cluster.
func tempDir() (string, error) { return makeTemp(tempPrefix, clearOrphan) }

// TempDir creates a temporary folder for tests and tools. The caller removes it; if the caller is killed first,
// the next call does.
func TempDir(name string) (string, error) {
	return makeTemp("firekeeper-"+name+"-", func(dir string) { _ = os.RemoveAll(dir) })
}

// makeTemp creates a folder whose name has our process ID, after removing those of processes that have ended.
func makeTemp(prefix string, remove func(dir string)) (string, error) {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return "", fmt.Errorf("look for old folders: %w", err)
	}
	for _, dir := range old {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), prefix+"%d-", &pid); err == nil && !processExists(pid) && ours(dir) {
			remove(dir)
		}
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make temporary folder: %w", err)
	}
	return dir, nil
}

// ours reports whether a folder belongs to this user, because any user can create one with such a name.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// clearOrphan removes the folder of a cluster whose process has ended. Detached clusters and kept logs stay.
func clearOrphan(dir string) {
	st, err := loadState(dir)
	if err != nil || st.Detached || st.Dir != dir {
		_ = os.Remove(dir) // fails unless it is empty
		return
	}
	_ = st.teardown(io.Discard)
}
