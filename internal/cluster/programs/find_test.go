package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// script writes a program that prints a text.
func script(t *testing.T, dir, name, prints string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\necho '%s'\n", prints), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// sourceTree writes a go.mod that pins etcd like the real one.
func sourceTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "etcd"), 0o755); err != nil {
		t.Fatal(err)
	}
	mod := "module etcd\n\nrequire (\n\tgo.etcd.io/etcd/api/v3 v3.0.1\n\tgo.etcd.io/etcd/server/v3 v3.6.9 // indirect\n)\n"
	if err := os.WriteFile(filepath.Join(dir, "etcd", "go.mod"), []byte(mod), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func finder(t *testing.T, path string) *Finder {
	t.Helper()
	return &Finder{
		Sources: sourceTree(t),
		Cache:   t.TempDir(),
		Log:     &bytes.Buffer{},
		LookPath: func(string) (string, error) {
			if path == "" {
				return "", exec.ErrNotFound
			}
			return path, nil
		},
		build: func(_ context.Context, b batch) error {
			return os.WriteFile(filepath.Join(b.out, "etcd"), []byte("built"), 0o755)
		},
	}
}

func TestFindOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		assets, cached bool
		onPath         string // output of the program on PATH; empty if there is none
		want           string
	}{
		"the assets folder wins over all":           {assets: true, cached: true, onPath: "etcd Version: 3.6.1", want: "assets"},
		"the cache wins over PATH":                  {cached: true, onPath: "etcd Version: 3.6.1", want: "cache"},
		"PATH is used when its version is good":     {onPath: "etcd Version: 3.6.1", want: "path"},
		"an old version on PATH is passed over":     {onPath: "etcd Version: 3.4.23", want: "built"},
		"a version too new is passed over":          {onPath: "etcd Version: 4.0.0", want: "built"},
		"a program that says nothing is not usable": {onPath: "hello", want: "built"},
		"a missing program is built":                {want: "built"},
	} {
		t.Run(name, func(t *testing.T) {
			pathDir, assets := t.TempDir(), t.TempDir()
			onPath := ""
			if tc.onPath != "" {
				onPath = script(t, pathDir, "etcd", tc.onPath)
			}
			f := finder(t, onPath)
			if tc.assets {
				f.Assets = assets
				script(t, assets, "etcd", "")
			}
			inCache := filepath.Join(f.Cache, "etcd-v3.6.9", "etcd")
			if tc.cached {
				script(t, filepath.Dir(inCache), "etcd", "")
			}
			got, err := f.Find(t.Context(), "etcd")
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"assets": filepath.Join(assets, "etcd"), "cache": inCache, "path": onPath, "built": inCache,
			}[tc.want]
			if got["etcd"] != want {
				t.Errorf("found %s, want %s", got["etcd"], want)
			}
		})
	}
}

func TestFindNamesWhatIsWrong(t *testing.T) {
	t.Run("a program that is not in the table", func(t *testing.T) {
		_, err := finder(t, "").Find(t.Context(), "emacs")
		if unknown, ok := errors.AsType[*UnknownError](err); !ok || unknown.Name != "emacs" {
			t.Errorf("error = %v, want UnknownError for emacs", err)
		}
	})
	t.Run("no source tree to build from", func(t *testing.T) {
		f := finder(t, "")
		f.Sources = ""
		if _, err := f.Find(t.Context(), "etcd"); !errors.Is(err, ErrNoSourceTree) {
			t.Errorf("error = %v, want ErrNoSourceTree", err)
		}
	})
	t.Run("a build that does not succeed leaves no program", func(t *testing.T) {
		f := finder(t, "")
		f.build = func(context.Context, batch) error { return errors.New("does not compile") }
		_, err := f.Find(t.Context(), "etcd")
		if err == nil || !strings.Contains(err.Error(), "build etcd v3.6.9: does not compile") {
			t.Errorf("error = %v", err)
		}
		left, err := filepath.Glob(filepath.Join(f.Cache, "*", "etcd"))
		if err != nil || len(left) != 0 {
			t.Errorf("left in the cache: %v, %v", left, err)
		}
	})
}

func TestParallelFindsBuildOnce(t *testing.T) {
	f := finder(t, "")
	f.Log = t.Output()
	var builds atomic.Int32
	build := f.build
	started, release := make(chan struct{}), make(chan struct{})
	f.build = func(ctx context.Context, b batch) error {
		if builds.Add(1) == 1 {
			close(started)
		}
		<-release
		return build(ctx, b)
	}
	var wg sync.WaitGroup
	find := func() {
		if _, err := f.Find(t.Context(), "etcd"); err != nil {
			t.Error(err)
		}
	}
	wg.Go(find)
	<-started
	for range 3 {
		wg.Go(find)
	}
	close(release)
	wg.Wait()
	if n := builds.Load(); n != 1 {
		t.Errorf("built %d times, want once", n)
	}
}

func TestLockEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), file, func() { t.Error("waited for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := lock(ctx, file, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
}

func TestStaticPassesOverScripts(t *testing.T) {
	f := finder(t, script(t, t.TempDir(), "etcd", "etcd Version: 3.6.1"))
	got, err := f.Static(t.Context(), "etcd")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(f.Cache, "etcd-v3.6.9", "etcd"); got["etcd"] != want {
		t.Errorf("found %s, want %s", got["etcd"], want)
	}
}

// Without build, One returns "" for a program that does not exist.
func TestOne(t *testing.T) {
	f := finder(t, "")
	if path, err := f.One(t.Context(), "etcd", false); path != "" || err != nil {
		t.Errorf("got %q, %v before it is built", path, err)
	}
	built, err := f.One(t.Context(), "etcd", true)
	if built == "" || err != nil {
		t.Fatalf("got %q, %v of a build", built, err)
	}
	if path, err := f.One(t.Context(), "etcd", false); path != built || err != nil {
		t.Errorf("got %q, %v after the build, want %q", path, err, built)
	}
	if _, err := f.One(t.Context(), "no-program", true); err == nil {
		t.Error("a program that nobody knows was found")
	}
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	v, err := Release(t.Context(), script(t, dir, "promtool", "promtool, version 2.45.3+ds (branch: debian/sid, revision: 2.45.3+ds-3)"))
	if err != nil || v.String() != "2.45.3" {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := Release(t.Context(), script(t, dir, "silent", "hello")); err == nil {
		t.Errorf("got %v of a program that prints no version", v)
	}
}
