// Package volumetest writes folders like the kubelet writes a mounted Secret or ConfigMap, for tests of
// programs that read them.
package volumetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Volume is a folder with the layout of a mounted ConfigMap.
type Volume struct {
	Dir string
	t   testing.TB
	old string // timestamped folder of the previous version
}

var serial atomic.Int64

// New returns an empty volume: ..data and no keys, like an optional ConfigMap that does not exist.
func New(t testing.TB) *Volume {
	t.Helper()
	return At(t, filepath.Join(t.TempDir(), "volume"))
}

// At creates the volume at dir, which must be empty or not exist.
func At(t testing.TB, dir string) *Volume {
	t.Helper()
	v := &Volume{Dir: dir, t: t}
	v.must(os.MkdirAll(dir, 0o755))
	v.Swap(nil)
	return v
}

// Path returns the visible path of a key.
func (v *Volume) Path(key string) string { return filepath.Join(v.Dir, key) }

// Swap replaces the content with files (key to content; a key may have slashes), in the order of the kubelet.
func (v *Volume) Swap(files map[string]string) {
	v.t.Helper()
	for _, step := range v.Steps(files) {
		step()
	}
}

// Steps returns the steps of [Volume.Swap], for tests that read the volume between them: new folder, rename of
// ..data, links of new keys, links of dropped keys, removal of the old folder.
func (v *Volume) Steps(files map[string]string) []func() {
	name := fmt.Sprintf("..2026_01_31_10_20_30.%d", serial.Add(1))
	dir := filepath.Join(v.Dir, name)
	data := filepath.Join(v.Dir, "..data")
	top := map[string]bool{}
	for key := range files {
		first, _, _ := strings.Cut(key, "/")
		top[first] = true
	}
	return []func(){
		func() { v.write(dir, files) },
		func() {
			v.must(os.Symlink(name, data+"_tmp"))
			v.must(os.Rename(data+"_tmp", data))
		},
		func() {
			for key := range top {
				if _, err := os.Lstat(v.Path(key)); err != nil {
					v.must(os.Symlink(filepath.Join("..data", key), v.Path(key)))
				}
			}
		},
		func() {
			entries, err := os.ReadDir(v.Dir)
			v.must(err)
			for _, e := range entries {
				if !strings.HasPrefix(e.Name(), "..") && !top[e.Name()] {
					v.must(os.Remove(v.Path(e.Name())))
				}
			}
		},
		func() {
			if v.old != "" {
				v.must(os.RemoveAll(v.old))
			}
			v.old = dir
		},
	}
}

func (v *Volume) write(dir string, files map[string]string) {
	v.must(os.Mkdir(dir, 0o755))
	for key, content := range files {
		path := filepath.Join(dir, key)
		v.must(os.MkdirAll(filepath.Dir(path), 0o755))
		v.must(os.WriteFile(path, []byte(content), 0o644))
	}
	v.must(os.Chmod(dir, 0o755))
}

func (v *Volume) must(err error) {
	if err != nil {
		v.t.Helper()
		v.t.Fatal(err)
	}
}
