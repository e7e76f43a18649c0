package render

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gz(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts { // each is a gzip member
		w := gzip.NewWriter(&b)
		_, err := io.WriteString(w, p)
		must(t, err)
		must(t, w.Close())
	}
	return b.String()
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// single returns a renderer for one input and output in a new folder.
func single(t testing.TB) (r *Renderer, in, out string) {
	t.Helper()
	dir := t.TempDir()
	in, out = filepath.Join(dir, "in"), filepath.Join(dir, "out")
	return New(Options{
		Files:    []File{{in, out}},
		Expander: expand.New(expand.Kubernetes, []string{"A=1"}),
	}), in, out
}

func TestInputs(t *testing.T) {
	large := strings.Repeat("0123456789 $(A) $1\n", 20000)
	for name, tc := range map[string]struct{ in, want string }{
		"gzip":                        {gz(t, "a: $(A)\n"), "a: 1\n"},
		"several members":             {gz(t, "a: $(", "A)\n", "", "b"), "a: 1\nb"},
		"plain":                       {"a: $(A) ${1}", "a: 1 ${1}"},
		"empty":                       {"", ""},
		"one byte":                    {"\x1f", "\x1f"},
		"two bytes":                   {"\x1f\x8b", "\x1f\x8b"},
		"gzip magic, other method":    {"\x1f\x8b\x07", "\x1f\x8b\x07"},
		"gzip of nothing":             {gz(t, ""), ""},
		"larger than all the buffers": {gz(t, large), strings.ReplaceAll(large, "$(A)", "1")},
	} {
		t.Run(name, func(t *testing.T) {
			r, in, out := single(t)
			write(t, in, tc.in)
			res, err := r.Render(t.Context())
			must(t, err)
			if got := read(t, out); got != tc.want {
				t.Errorf("output has %d bytes, want %d: %.60q", len(got), len(tc.want), got)
			}
			want := Result{Input: in, Output: out, InputSHA256: sum(tc.in), OutputSHA256: sum(tc.want), Written: true}
			if len(res) != 1 {
				t.Fatalf("%d results", len(res))
			}
			if res[0].Unset = nil; fmt.Sprint(res[0]) != fmt.Sprint(want) {
				t.Errorf("result %+v, want %+v", res[0], want)
			}
		})
	}
}

func TestOutputIsReplacedOnlyWhenItDiffers(t *testing.T) {
	r, in, out := single(t)
	inode := func() uint64 {
		info, err := os.Stat(out)
		must(t, err)
		return info.Sys().(*syscall.Stat_t).Ino
	}
	step := func(what string, wantWritten bool) {
		t.Helper()
		before := uint64(0)
		if _, err := os.Stat(out); err == nil {
			before = inode()
		}
		res, err := r.Render(t.Context())
		must(t, err)
		if res[0].Written != wantWritten || (before != inode()) != wantWritten {
			t.Errorf("%s: written %v (inode %d → %d), want %v", what, res[0].Written, before, inode(), wantWritten)
		}
	}
	write(t, in, "x $(A)")
	step("first", true)
	step("nothing new", false)
	write(t, in, gz(t, "x $(A)"))
	step("same content in gzip", false)
	write(t, in, "y")
	step("other content", true)
	r = New(r.opts)
	step("same content after a restart", false)
	write(t, out, "tampered")
	step("somebody else wrote the output", true)
	must(t, os.Chmod(out, 0o600))
	step("somebody made the output unreadable", true)
	must(t, os.Remove(out))
	step("somebody removed the output", true)
	if info, err := os.Stat(out); err != nil || info.Mode() != outputMode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestModeDoesNotDependOnUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	r, in, out := single(t)
	write(t, in, "x")
	_, err := r.Render(t.Context())
	must(t, err)
	if info, err := os.Stat(out); err != nil || info.Mode() != outputMode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// After any failure the output is unchanged.
func TestFailuresLeaveTheOutputAlone(t *testing.T) {
	whole := gz(t, strings.Repeat("good\n", 10000))
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, r *Renderer, in, out string)
		want  []string
	}{
		"truncated gzip":   {func(t *testing.T, _ *Renderer, in, _ string) { write(t, in, whole[:len(whole)-9]) }, []string{"gunzip ", "/in: unexpected EOF"}},
		"gzip header only": {func(t *testing.T, _ *Renderer, in, _ string) { write(t, in, whole[:5]) }, []string{"gunzip ", "/in: unexpected EOF"}},
		"bad checksum": {func(t *testing.T, _ *Renderer, in, _ string) {
			b := []byte(whole)
			b[len(b)-6] ^= 1
			write(t, in, string(b))
		}, []string{"gunzip ", "invalid checksum"}},
		"garbage after the gzip stream": {func(t *testing.T, _ *Renderer, in, _ string) {
			write(t, in, whole+"garbage that is longer than a header")
		}, []string{"gunzip ", "invalid header"}},
		"no input": {func(t *testing.T, _ *Renderer, in, _ string) { must(t, os.Remove(in)) }, []string{"read config: open ", "no such file"}},
		"input is a folder": {func(t *testing.T, _ *Renderer, in, _ string) {
			must(t, os.Remove(in))
			must(t, os.Mkdir(in, 0o755))
		}, []string{"is a directory"}},
		"too large": {func(t *testing.T, r *Renderer, in, _ string) {
			r.stream.maxSize = 100
			write(t, in, gz(t, strings.Repeat("x", 101)))
		}, []string{"/in: the content is larger than 100 bytes"}},
		"temporary file cannot be made": {func(t *testing.T, _ *Renderer, in, out string) {
			write(t, in, "new")
			must(t, os.MkdirAll(filepath.Join(temporary(out), "sub"), 0o755))
		}, []string{"write output: ", "out.tmp"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, in, out := single(t)
			write(t, in, "good $(A)")
			_, err := r.Render(t.Context())
			must(t, err)
			tc.spoil(t, r, in, out)
			_, err = r.Render(t.Context())
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Render = %v, want it to say %q", err, want)
				}
			}
			if got := read(t, out); got != "good 1" {
				t.Errorf("output %q", got)
			}
			if info, err := os.Stat(temporary(out)); err == nil && !info.IsDir() {
				t.Error("the temporary file is left")
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(dir, "out")
	r := New(Options{Files: []File{{in, out}}, Expander: expand.New(expand.Kubernetes, nil)})
	write(t, in, "good")
	_, err := r.Render(t.Context())
	must(t, err)
	write(t, in, strings.Repeat("x", 1<<20))
	_, err = r.Render(t.Context())
	if err == nil || !strings.Contains(err.Error(), "write output: ") || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("Render = %v", err)
	}
	if got := read(t, out); got != "good" {
		t.Errorf("output %q", got)
	}
	if _, err := os.Stat(temporary(out)); err == nil {
		t.Error("the temporary file is left and keeps the disk full")
	}
	write(t, in, "better")
	_, err = r.Render(t.Context())
	must(t, err)
}

func TestHashOnly(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	write(t, in, gz(t, "$(A)"))
	r := New(Options{Files: []File{{Input: in}}})
	res, err := r.Render(t.Context())
	must(t, err)
	if res[0].InputSHA256 != sum(gz(t, "$(A)")) || res[0].OutputSHA256 != "" || res[0].Content() != res[0].InputSHA256 {
		t.Errorf("result %+v", res[0])
	}
	if r.Owns(in) || r.Handles(in) {
		t.Error("claims an input that has no output")
	}
}

func TestUnsetIsRemembered(t *testing.T) {
	r, in, _ := single(t)
	write(t, in, "$(B) $(A) $(B)")
	for range 2 {
		res, err := r.Render(t.Context())
		must(t, err)
		if res[0].Unset["B"] != 2 || res[0].Unset.Total() != 2 {
			t.Errorf("unset %v", res[0].Unset)
		}
	}
}

func TestFolders(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	r := New(Options{Dirs: []Dir{{in, out}}, Expander: expand.New(expand.Kubernetes, []string{"A=1"})})
	names := func() []string {
		t.Helper()
		_, err := r.Render(t.Context())
		must(t, err)
		entries, err := os.ReadDir(out)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	write(t, filepath.Join(out, "foreign"), "")
	write(t, filepath.Join(in, "a"), gz(t, "$(A)"))
	write(t, filepath.Join(in, "b"), "b")
	write(t, filepath.Join(in, "..data"), "")
	must(t, os.Mkdir(filepath.Join(in, "sub"), 0o755))
	must(t, os.Symlink("sub", filepath.Join(in, "link")))
	if got := names(); !slices.Equal(got, []string{"a", "b", "foreign"}) || read(t, filepath.Join(out, "a")) != "1" {
		t.Errorf("outputs %v", got)
	}
	must(t, os.Remove(filepath.Join(in, "a")))
	write(t, filepath.Join(in, "c"), "c")
	if got := names(); !slices.Equal(got, []string{"b", "c", "foreign"}) {
		t.Errorf("outputs %v after one input vanished", got)
	}
	if !r.Owns(filepath.Join(out, "b")) || !r.Owns(filepath.Join(out, "c.tmp")) || r.Owns(filepath.Join(in, "b")) {
		t.Error("Owns is wrong about the folders")
	}
	if !r.Handles(filepath.Join(in, "b")) || !r.Handles(filepath.Join(out, "b")) || r.Handles(filepath.Join(in, "sub", "b")) {
		t.Error("Handles is wrong about the folders")
	}
	_, err := New(Options{Dirs: []Dir{{filepath.Join(in, "none"), out}}}).Render(t.Context())
	if err == nil || !strings.Contains(err.Error(), "read config folder: open ") {
		t.Errorf("a missing folder: %v", err)
	}
}

// The results of all inputs are in memory.
func TestFoldersWithTooManyFiles(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(in, "0"), "")
	for i := range maxFiles {
		must(t, os.Link(filepath.Join(in, "0"), filepath.Join(in, strconv.Itoa(i+1))))
	}
	_, err := New(Options{Dirs: []Dir{{in, out}}, Expander: expand.New(expand.Kubernetes, nil)}).Render(t.Context())
	if want := "read config folder: more than 10000 files in all folders, up to " + in; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

func TestNothingAppearsBeforeAllIsReady(t *testing.T) {
	dir := t.TempDir()
	path := func(n string) string { return filepath.Join(dir, n) }
	r := New(Options{
		Files:    []File{{path("a"), path("a.out")}, {path("b"), path("b.out")}},
		Expander: expand.New(expand.Kubernetes, nil),
	})
	write(t, path("a"), "1")
	write(t, path("b"), "1")
	_, err := r.Render(t.Context())
	must(t, err)
	write(t, path("a"), "2")
	write(t, path("b"), gz(t, "2")[:8])
	if _, err := r.Render(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if read(t, path("a.out")) != "1" {
		t.Error("the first output was replaced although the second failed")
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("left behind: %v", entries)
	}
}

// For any input, the output is the complete new content or exactly the old one, and no
// temporary file is left.
func FuzzRender(f *testing.F) {
	whole := gz(f, "some $(A) text", "and more")
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)-4]))
	f.Add([]byte("plain $(A)"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, in, out := single(t)
		write(t, in, "old")
		_, err := r.Render(t.Context())
		must(t, err)
		must(t, os.WriteFile(in, data, 0o600))
		res, err := r.Render(t.Context())
		got := read(t, out)
		if err != nil && got != "old" {
			t.Fatalf("after %v the output is %q", err, got)
		}
		if err == nil {
			plain := data
			if bytes.HasPrefix(data, gzipMagic) {
				zr, err := gzip.NewReader(bytes.NewReader(data))
				must(t, err)
				plain, err = io.ReadAll(zr)
				must(t, err)
			}
			if want := strings.ReplaceAll(string(plain), "$(A)", "1"); got != want || res[0].OutputSHA256 != sum(got) {
				t.Fatalf("output %q (%s), want %q", got, res[0].OutputSHA256, want)
			}
		}
		if _, err := os.Stat(temporary(out)); err == nil {
			t.Fatal("the temporary file is left")
		}
	})
}
