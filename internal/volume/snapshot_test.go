package volume_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func take(t *testing.T, dirs ...string) volume.Snapshot {
	t.Helper()
	s, err := new(volume.Reader).Take(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestVersionFollowsVisibleContentOnly(t *testing.T) {
	vol := volumetest.New(t)
	empty := take(t, vol.Dir)
	files := map[string]string{"a.yaml": "one", "sub/b.yaml": "two"}
	vol.Swap(files)
	first := take(t, vol.Dir)
	vol.Swap(files)
	same := take(t, vol.Dir)
	vol.Swap(map[string]string{"a.yaml": "one", "sub/b.yaml": "three"})
	changed := take(t, vol.Dir)
	vol.Swap(map[string]string{"a.yaml": "one"})
	dropped := take(t, vol.Dir)

	if first.Version != same.Version {
		t.Error("a swap without new content changed the version")
	}
	versions := []string{empty.Version, first.Version, changed.Version, dropped.Version}
	slices.Sort(versions)
	if len(slices.Compact(versions)) != 4 {
		t.Errorf("contents that differ share a version: %v", versions)
	}
	if first.Dirs[0].Files != 2 || dropped.Dirs[0].Files != 1 || len(dropped.Gone) != 0 {
		t.Errorf("counted %+v, %+v", first, dropped)
	}
}

func TestTheKubeletLayoutDoesNotMatter(t *testing.T) {
	files := map[string]string{"a.b": "1", "a/z": "2", "a/c": "3", "b": ""}
	vol, plain := volumetest.New(t), t.TempDir()
	vol.Swap(files)
	want := map[string][]byte{}
	for name, text := range files {
		write(t, filepath.Join(plain, name), text)
		want[name] = []byte(text)
	}
	a, b := take(t, vol.Dir).Dirs[0].SHA256, take(t, plain).Dirs[0].SHA256
	if c := volume.SumFiles(want); a != b || a != c {
		t.Errorf("volume %s, plain folder %s, SumFiles %s: want one value", a, b, c)
	}
}

func TestRenamingCountsAsChange(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x")
	before := take(t, dir)
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if take(t, dir).Version == before.Version {
		t.Error("same version under another name")
	}
}

func TestSpecialCases(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kept"), "x")
	write(t, filepath.Join(dir, "mine.tmp"), "x")
	write(t, filepath.Join(dir, "..hidden"), "x")
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	link(t, "endless", filepath.Join(dir, "endless"))
	link(t, "kept/below", filepath.Join(dir, "through-a-file"))
	link(t, ".", filepath.Join(dir, "itself"))
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := volume.Reader{Skip: func(p string) bool { return strings.HasSuffix(p, ".tmp") }}
	s, err := r.Take(t.Context(), []string{dir, filepath.Join(dir, "later")})
	if err != nil {
		t.Fatal(err)
	}
	if s.Dirs[0].Files != 1 {
		t.Errorf("%d files, want only the regular one", s.Dirs[0].Files)
	}
	if want := []string{filepath.Join(dir, "dangling"), filepath.Join(dir, "endless"), filepath.Join(dir, "through-a-file")}; !slices.Equal(s.Gone, want) {
		t.Errorf("gone %v, want %v", s.Gone, want)
	}
	if want := []string{filepath.Join(dir, "later")}; !slices.Equal(s.Missing(), want) {
		t.Errorf("missing %v, want %v", s.Missing(), want)
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "x")
	links := filepath.Join(dir, "links")
	if err := os.Mkdir(links, 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, strings.Repeat("n", 300), filepath.Join(links, "long"))
	for path, want := range map[string]struct {
		is   error
		text string
	}{
		file:  {syscall.ENOTDIR, "read folder " + file + ": not a directory"},
		links: {syscall.ENAMETOOLONG, filepath.Join(links, "long")},
	} {
		_, err := new(volume.Reader).Take(t.Context(), []string{path})
		if !errors.Is(err, want.is) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("Take(%s) = %v, want %v and %q", path, err, want.is, want.text)
		}
	}
	if _, err := new(volume.Reader).Take(t.Context(), []string{filepath.Join(file, "below")}); errors.Is(err, fs.ErrNotExist) || err == nil {
		t.Errorf("a folder below a file: %v", err)
	}
}

// Links can make a few folders appear at any number of paths.
func TestManyPaths(t *testing.T) {
	dir := t.TempDir()
	for i := range 25 { // 2^25 paths
		step := filepath.Join(dir, fmt.Sprintf("d%d", i))
		if err := os.Mkdir(step, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"x", "y"} {
			link(t, fmt.Sprintf("../d%d", i+1), filepath.Join(step, name))
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d25"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := (&volume.Reader{}).Take(t.Context(), []string{dir})
	if want := "read folder " + dir + ": more than 200000 files and folders, up to " + dir + "/d0/"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s...", err, want)
	}
}

// A program that receives a signal does not wait for the end of a walk or of a large file.
func TestEndOfContextInterrupts(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		skip  bool
	}{
		"between files": {[]string{"a", "b", "c"}, true},
		"in a file":     {[]string{"a"}, false},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			write(t, filepath.Join(dir, f), "x")
		}
		ctx, cancel := context.WithCancel(t.Context())
		visited := 0
		r := volume.Reader{Skip: func(string) bool {
			visited++
			cancel()
			return c.skip
		}}
		if _, err := r.Take(ctx, []string{dir}); !errors.Is(err, context.Canceled) || visited != 1 {
			t.Errorf("%s: %d files visited, error %v", name, visited, err)
		}
	}
}

// A pipe would wait for a writer, and a device may have no end.
func TestOpenSpecialFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		f, err := volume.Open(t.Context(), path)
		if want := "read " + path + ": is a pipe, a socket or a device, want a regular file"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
}

// A file that is kept in memory has a limit.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "12345")
	if text, err := volume.ReadFile(t.Context(), path, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := volume.ReadFile(t.Context(), path, 4); err == nil || err.Error() != "read "+path+": more than 4 bytes" {
		t.Errorf("%q, %v", text, err)
	}
}

func BenchmarkTake(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run("files="+strconv.Itoa(n), func(b *testing.B) {
			files := map[string]string{}
			for i := range n {
				files["rule-"+strconv.Itoa(i)+".yaml"] = strings.Repeat("- alert: A\n  expr: up == 0\n", 80)
			}
			vol := volumetest.New(b)
			vol.Swap(files)
			var r volume.Reader
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Take(b.Context(), []string{vol.Dir}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
