package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The next start removes the folders of a process that has ended, unless they belong to
// another user or their state refers to another folder.
func TestNextStartRemovesWhatAKilledOneLeft(t *testing.T) {
	temp, precious := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	folder := func(format string, pid int) string {
		dir := filepath.Join(temp, fmt.Sprintf(format, pid))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	state := func(dir, says string) {
		if err := os.WriteFile(filepath.Join(dir, stateFile), fmt.Appendf(nil, `{"dir": %q}`, says), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gone := ended.Process.Pid
	cluster, elsewhere := folder(tempPrefix+"%d-a", gone), folder(tempPrefix+"%d-b", gone)
	state(cluster, cluster)
	state(elsewhere, precious)
	running, scratch := folder("firekeeper-scratch-%d-a", os.Getpid()), folder("firekeeper-scratch-%d-a", gone)
	kept := []string{precious, elsewhere, running}
	if os.Geteuid() == 0 {
		foreign := folder("firekeeper-scratch-%d-b", gone)
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, foreign)
	}
	for _, temp := range []func() (string, error){tempDir, func() (string, error) { return TempDir("scratch") }} {
		if _, err := temp(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("gone: %v", err)
		}
	}
	for _, dir := range []string{cluster, scratch} {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}
