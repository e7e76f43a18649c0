package volume_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// A file that was read is read again only when its inode, size or time has changed, or after some time.
func TestReuse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	version := func(r *volume.Reader) string {
		t.Helper()
		s, err := r.Take(t.Context(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return s.Version
	}
	old := time.Now().Add(-time.Hour)
	put := func(text string, at time.Time) {
		t.Helper()
		write(t, file, text)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		reuse  time.Duration
		change func()
		same   bool
	}{
		"nothing that can be seen": {time.Hour, func() { put("two", old) }, true},
		"without reuse":            {0, func() { put("two", old) }, false},
		"too long ago":             {time.Nanosecond, func() { put("two", old) }, false},
		"the time":                 {time.Hour, func() { put("two", old.Add(time.Second)) }, false},
		"the size":                 {time.Hour, func() { put("three", old) }, false},
		"the inode": {time.Hour, func() {
			if err := os.Rename(file, file+".old"); err != nil {
				t.Fatal(err)
			}
			put("two", old)
			if err := os.Rename(file+".old", filepath.Join(t.TempDir(), "a")); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		put("one", old)
		r := &volume.Reader{Reuse: tc.reuse}
		before := version(r)
		if again := version(r); again != before {
			t.Errorf("%s: another version without a change", name)
		}
		tc.change()
		if after := version(r); (after == before) != tc.same {
			t.Errorf("%s: same version: %t", name, after == before)
		}
	}
	now := time.Now()
	put("one", now)
	r := &volume.Reader{Reuse: time.Hour}
	before := version(r)
	if put("two", now); version(r) == before {
		t.Error("a file that has just changed is not read again")
	}
}
