package volume_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func TestSteadyHidesTheMiddleOfASwap(t *testing.T) {
	vol := volumetest.New(t)
	vol.Swap(map[string]string{"old": "1"})
	s := volume.Steady{Dirs: []string{vol.Dir}}
	for i, step := range vol.Steps(map[string]string{"new": "2"}) {
		step()
		_, err := s.Take(t.Context())
		if _, unsettled := errors.AsType[*volume.UnsettledError](err); unsettled != (i == 1 || i == 2) {
			t.Errorf("after step %d: %v", i, err)
		}
	}
}

func TestSteadySaysThingsOnce(t *testing.T) {
	dir := t.TempDir()
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	later := filepath.Join(dir, "later")
	var logged bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := volume.Steady{Dirs: []string{dir, later}, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
		if _, err := s.Take(t.Context()); err == nil || !strings.Contains(err.Error(), "dangling") {
			t.Errorf("a dangling link: %v", err)
		}
		time.Sleep(3 * time.Second)
		for range 3 {
			if _, err := s.Take(t.Context()); err != nil {
				t.Errorf("a link that stays without target: %v", err)
			}
		}
		if err := os.Mkdir(later, 0o755); err != nil {
			t.Fatal(err)
		}
		if snap, err := s.Take(t.Context()); err != nil || len(snap.Missing()) > 0 {
			t.Errorf("the folder that appeared: %v, %v", snap, err)
		}
		if err := os.Remove(later); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Take(t.Context())
	})
	for text, want := range map[string]int{"Symlink has no target": 1, "no ..data": 2, "does not exist": 2} {
		if n := strings.Count(logged.String(), text); n != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, logged.String())
		}
	}
}

// A folder can have any number of links without a target.
func TestSteadyNamesFewLinks(t *testing.T) {
	dir := t.TempDir()
	for i := range 2000 {
		link(t, "nowhere", filepath.Join(dir, fmt.Sprint(i)))
	}
	var logged bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := volume.Steady{Dirs: []string{dir}, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
		if _, err := s.Take(t.Context()); err == nil || strings.Count(err.Error(), dir) != 100 {
			t.Errorf("error %v", err)
		}
		time.Sleep(3 * time.Second)
		if snap, err := s.Take(t.Context()); err != nil || len(snap.Gone) != 1000 {
			t.Errorf("%d gone, error %v", len(snap.Gone), err)
		}
	})
	if n := strings.Count(logged.String(), "Symlink has no target"); n != 100 {
		t.Errorf("%d are logged", n)
	}
}

func TestSteadyCanInsist(t *testing.T) {
	s := volume.Steady{Dirs: []string{"/does/not/exist"}, MustExist: true}
	if _, err := s.Take(t.Context()); err == nil || err.Error() != "read folder /does/not/exist: no such file or directory" {
		t.Errorf("Take = %v", err)
	}
}
