package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

const tempPrefix = "firekeeper-cluster-"

// tempDir makes a folder for a cluster.
func tempDir() (string, error) { return makeTemp(tempPrefix, clearOrphan) }

// TempDir makes a folder for what tests and tools keep beside a cluster. The maker removes it; when it is killed
// before, the next one does.
func TempDir(name string) (string, error) {
	return makeTemp("firekeeper-"+name+"-", func(dir string) { _ = os.RemoveAll(dir) })
}

// makeTemp makes a folder whose name carries our process id, after removing those of processes that are gone.
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

// ours reports whether a folder belongs to this user: anybody can make one with such a name.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// clearOrphan clears the folder of a cluster that nobody runs any more. Detached clusters and kept logs stay.
func clearOrphan(dir string) {
	st, err := loadState(dir)
	if err != nil || st.Detached || st.Dir != dir {
		_ = os.Remove(dir) // only when it is empty
		return
	}
	_ = st.teardown(io.Discard)
}
