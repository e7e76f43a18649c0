package targets

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The first list is stored immediately, later ones at most every 5 s, and the last one at the end.
func TestFileFollowsList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "list")
		p := newPeer(t, file)
		stop := p.run()
		stored := func() string {
			l := &list{}
			_, err := l.load(file, bounds, newPacker())
			must(t, err)
			return l.version.String()
		}
		p.send(start)
		if got := stored(); got != "3-7" {
			t.Errorf("stored %q", got)
		}
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		for _, seq := range []string{"3-8", "3-9"} {
			p.send(strings.ReplaceAll(start, "3-7", seq))
		}
		if got := stored(); got != "3-7" {
			t.Errorf("stored %q within %s", got, saveInterval)
		}
		time.Sleep(saveInterval)
		synctest.Wait()
		if got := stored(); got != "3-9" {
			t.Errorf("stored %q after %s", got, saveInterval)
		}
		p.send(strings.ReplaceAll(start, "3-7", "3-10"))
		stop()
		if got := stored(); got != "3-10" {
			t.Errorf("stored %q at the end", got)
		}
		if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
			t.Errorf("files left: %v", left)
		}
		again := newPeer(t, file)
		again.client.Load()
		again.wantList(strings.ReplaceAll(listAtStart, "3-7", "3-10"))
		defer again.run()()
		if asked, _ := again.requests(); asked[0] != "3-10" {
			t.Errorf("asked for changes of %q after a restart", asked[0])
		}
	})
}

// If the file cannot be written, the list is served from memory, and stored as soon as possible.
func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "later")
		p := newPeer(t, filepath.Join(dir, "list"))
		defer p.run()()
		p.send(start)
		p.wantList(listAtStart)
		if p.errors(Disk) != 1 || strings.Count(p.log.String(), "cannot be stored on disk") != 1 {
			t.Errorf("%d errors, log: %s", p.errors(Disk), p.log)
		}
		must(t, os.Mkdir(dir, 0o755))
		time.Sleep(saveInterval)
		synctest.Wait()
		p.send(strings.ReplaceAll(start, "3-7", "3-8"))
		if _, err := os.Stat(filepath.Join(dir, "list")); err != nil || !strings.Contains(p.log.String(), "stored on disk again") {
			t.Errorf("%v, log: %s", err, p.log)
		}
	})
}

// A damaged file is ignored: the list is then unknown, not empty.
func TestDamagedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	l := &list{}
	must(t, feed(l, start, bounds))
	must(t, l.save(file))
	whole, err := os.ReadFile(file)
	must(t, err)
	for n := range whole {
		damaged := whole[:n]
		if n%2 == 1 {
			damaged = append(append([]byte{}, whole[:n]...), whole[n]^0x55)
			damaged = append(damaged, whole[n+1:]...)
		}
		must(t, os.WriteFile(file, damaged, 0o600))
		got := &list{}
		found, err := got.load(file, bounds, newPacker())
		s := text(t, got, "a", "b")
		if found != (s == listAtStart) || found == (err != nil) || !found && s != "none" {
			t.Fatalf("byte %d: found %v, error %v, list %s", n, found, err, s)
		}
	}
	must(t, os.WriteFile(file, whole, 0o600))
	tight := bounds
	tight.Jobs = 1
	if _, err := (&list{}).load(file, tight, newPacker()); reasonOf(err) != TooLarge {
		t.Errorf("a file above the limits: %v", err)
	}
}

// A pipe or a link instead of the file, or of the temporary file that replaces it, is neither read nor followed.
func TestFileIsRegular(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "list"), filepath.Join(dir, "other")
	must(t, syscall.Mkfifo(file, 0o600))
	if found, err := (&list{}).load(file, bounds, newPacker()); found || err == nil {
		t.Errorf("a pipe: %t, %v", found, err)
	}
	must(t, os.WriteFile(other, []byte("other"), 0o600))
	l := &list{}
	must(t, feed(l, start, bounds))
	for _, put := range []func() error{
		func() error { return os.Symlink(other, file+".tmp") },
		func() error { return syscall.Mkfifo(file+".tmp", 0o600) },
	} {
		must(t, put())
		must(t, l.save(file))
		found, err := (&list{}).load(file, bounds, newPacker())
		if text, _ := os.ReadFile(other); !found || err != nil || string(text) != "other" {
			t.Errorf("found %t, error %v, the target of the link has %q", found, err, text)
		}
	}
}
