package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"

	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the maximum time that a test waits for an event that must occur.
const patience = 10 * time.Second

// watching runs a Watcher until the test ends.
func watching(t *testing.T, o WatchOptions) *Watcher {
	t.Helper()
	w := NewWatcher(t.Context(), o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

func TestEndOfContextInterruptsTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := NewWatcher(ctx, quick(t.TempDir()))
	if n := w.Watches(); n != 0 {
		t.Errorf("%d folders watched", n)
	}
	w.Run(ctx)
}

func expectChange(t *testing.T, w *Watcher, what string) {
	t.Helper()
	select {
	case <-w.Changes():
	case <-time.After(patience):
		t.Fatalf("no notification: %s", what)
	}
}

// until receives notifications until the condition holds. A burst may end in two of them.
func until(t *testing.T, w *Watcher, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-w.Changes():
		case <-deadline:
			t.Fatalf("no notification after which this holds: %s", what)
		}
	}
}

func quick(dirs ...string) WatchOptions {
	return WatchOptions{Dirs: dirs, Delay: 20 * time.Millisecond, ScanInterval: 50 * time.Millisecond}
}

func version(t *testing.T, dirs ...string) string {
	t.Helper()
	s, err := new(Reader).Take(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	return s.Version
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSwapAfterSwapIsSeen(t *testing.T) {
	vol := volumetest.New(t)
	w := watching(t, WatchOptions{Dirs: []string{vol.Dir}, Delay: time.Minute, Settle: 5 * time.Millisecond})
	for i := range 5 {
		vol.Swap(map[string]string{"a": fmt.Sprint(i), fmt.Sprint("key", i): "x"})
		start := time.Now()
		expectChange(t, w, "swap")
		if took := time.Since(start); took > 30*time.Second { // half of the delay
			t.Errorf("a complete swap waited %v", took)
		}
		// The next swap is a separate burst only some time after this one.
		<-time.After(25 * time.Millisecond)
	}
}

func TestUnfinishedSwapIsWaitedFor(t *testing.T) {
	vol := volumetest.New(t)
	vol.Swap(map[string]string{"old": "1"})
	steps := vol.Steps(map[string]string{"new": "2"})
	for i, want := range []bool{true, false, false, true, true} {
		steps[i]()
		if got := settled(vol.Dir); got != want {
			t.Errorf("after step %d settled = %v, want %v", i, got, want)
		}
	}
	if settled(t.TempDir()) {
		t.Error("a plain folder is settled")
	}
}

func TestNestedKeysBelongToTheirVolume(t *testing.T) {
	vol := volumetest.New(t)
	vol.Swap(map[string]string{"sub/a": "1"})
	if got := volumeOf(vol.Path("sub")); got != vol.Dir {
		t.Errorf("volumeOf = %s, want %s", got, vol.Dir)
	}
	if dir := t.TempDir(); volumeOf(dir) != dir {
		t.Errorf("volumeOf(%s) = %s", dir, volumeOf(dir))
	}
	w := watching(t, WatchOptions{Files: []string{vol.Path("sub/a")}, Delay: time.Minute, Settle: 5 * time.Millisecond})
	vol.Swap(map[string]string{"sub/a": "2"})
	expectChange(t, w, "swap of a file behind a linked folder")
}

func TestHundredSwapsLoseNothing(t *testing.T) {
	vol := volumetest.New(t)
	w := watching(t, WatchOptions{Dirs: []string{vol.Dir}, Delay: 50 * time.Millisecond, Settle: 5 * time.Millisecond})
	for i := range 100 {
		vol.Swap(map[string]string{"a": fmt.Sprint(i)})
	}
	want := version(t, vol.Dir)
	got := ""
	until(t, w, "last content", func() bool { got = version(t, vol.Dir); return got == want && w.quiet() })
}

// quiet reports whether no notification is pending.
func (w *Watcher) quiet() bool { return len(w.changes) == 0 }

func TestPlainFolders(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	w := watching(t, quick(dir))
	for _, path := range []string{"file", "sub/file", "fresh/deep/file"} {
		before := version(t, dir)
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o644))
		until(t, w, path, func() bool { return version(t, dir) != before })
	}
	until(t, w, "watch on the fresh folders", func() bool { return w.Watches() == 4 })
	must(t, os.WriteFile(filepath.Join(dir, "fresh/deep/file"), []byte("y"), 0o644))
	expectChange(t, w, "write in a folder that came later")
}

func TestFolderAppearsVanishesAndReturns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w := watching(t, quick(dir))
	if w.Watches() != 0 {
		t.Errorf("%d watches on a folder that does not exist", w.Watches())
	}
	for range 2 {
		must(t, os.MkdirAll(dir, 0o755))
		until(t, w, "folder appears", func() bool { return w.Watches() == 1 })
		must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
		expectChange(t, w, "file in the folder that appeared")
		must(t, os.RemoveAll(filepath.Dir(dir)))
		until(t, w, "folder vanishes", func() bool { return w.Watches() == 0 })
	}
}

func TestReplacedFolderIsFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	must(t, os.Mkdir(dir, 0o755))
	w := watching(t, quick(dir))
	must(t, os.Rename(dir, dir+".old"))
	must(t, os.Mkdir(dir, 0o755))
	expectChange(t, w, "folder replaced")
	// Whether the watch is already on the new folder is not observable, so write until an event
	// arrives.
	deadline := time.After(patience)
	for n := 0; ; n++ {
		must(t, os.WriteFile(filepath.Join(dir, "f"), []byte(fmt.Sprint(n)), 0o644))
		select {
		case <-w.Changes():
			return
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			t.Fatal("writes in the new folder go unnoticed")
		}
	}
}

func TestFileRootWatchesItsFolderOnly(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	o := quick()
	o.Files = []string{filepath.Join(dir, "config")}
	o.Ignore = func(p string) bool { return strings.HasSuffix(p, ".tmp") }
	var events atomic.Int64
	o.OnEvent = func() { events.Add(1) }
	w := watching(t, o)
	if w.Watches() != 1 {
		t.Errorf("%d watches, want the parent folder", w.Watches())
	}
	must(t, os.WriteFile(filepath.Join(dir, "own.tmp"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "config"), nil, 0o644))
	expectChange(t, w, "write of the file")
	if events.Load() < 2 {
		t.Errorf("%d events counted, ignored ones included", events.Load())
	}
}

func TestPollingWithoutKernelWatches(t *testing.T) {
	var refuse atomic.Bool
	refuse.Store(true)
	var failures atomic.Int64
	o := quick(t.TempDir())
	o.PollInterval = 10 * time.Millisecond
	o.OnError = func(err error) {
		if errors.Is(err, syscall.EMFILE) {
			failures.Add(1)
		}
	}
	o.newBackend = func() (*fsnotify.Watcher, error) {
		if refuse.Load() {
			return nil, syscall.EMFILE
		}
		return fsnotify.NewWatcher()
	}
	w := watching(t, o)
	for range 3 {
		expectChange(t, w, "poll")
	}
	if failures.Load() == 0 {
		t.Error("the refusal was not reported")
	}
	refuse.Store(false)
	until(t, w, "watches after the kernel has some again", func() bool { return w.Watches() == 1 })
}

func TestErrorTextsNameTheLimit(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOSPC: "max_user_watches",
		syscall.EMFILE: "max_user_instances",
		syscall.EACCES: "permission denied",
	} {
		if got := explain(err); !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("explain(%v) = %v", err, got)
		}
	}
}

func TestOverflowLooksAgain(t *testing.T) {
	backend, err := fsnotify.NewWatcher()
	must(t, err)
	injected := make(chan error)
	backend.Errors = injected
	o := quick(t.TempDir())
	var counted atomic.Int64
	o.OnError = func(error) { counted.Add(1) }
	o.newBackend = func() (*fsnotify.Watcher, error) { return backend, nil }
	w := watching(t, o)
	injected <- fsnotify.ErrEventOverflow
	expectChange(t, w, "overflow")
	if counted.Load() != 1 {
		t.Errorf("%d errors counted, want 1", counted.Load())
	}
}
