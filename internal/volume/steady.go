package volume

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// goneGrace is the time for which a link may lack its target before that counts as permanent.
const goneGrace = 2 * time.Second

// Steady takes snapshots for a program that acts on them. It does not return a folder in the middle of an
// update, and logs each problem only once.
type Steady struct {
	Dirs []string
	// MustExist makes a missing folder an error. Otherwise it is empty until it is created.
	MustExist bool
	Reader    Reader
	Logger    *slog.Logger

	goneSince time.Time
	logged    map[string]bool
}

// maxNamed is the maximum number of links without a target that are named in the log.
const maxNamed = 100

// UnsettledError means that a folder is being updated. Retry soon.
type UnsettledError struct{ Gone []string }

func (e *UnsettledError) Error() string {
	return "links without a target, the folder may be in the middle of an update: " + strings.Join(e.Gone[:min(len(e.Gone), maxNamed)], ", ")
}

// Temporary returns true, because the update completes without intervention.
func (e *UnsettledError) Temporary() bool { return true }

// Take reads all folders.
//
// Errors: [UnsettledError] for up to two seconds while links have no target; a folder cannot be read; ctx
// ended.
func (s *Steady) Take(ctx context.Context) (Snapshot, error) {
	snap, err := s.Reader.Take(ctx, s.Dirs)
	if err != nil {
		return snap, err
	}
	if missing := snap.Missing(); len(missing) > 0 && s.MustExist {
		return snap, fmt.Errorf("read folder %s: no such file or directory", missing[0])
	}
	if len(snap.Gone) == 0 {
		s.goneSince = time.Time{}
	} else if s.goneSince.IsZero() {
		s.goneSince = time.Now()
	}
	if len(snap.Gone) > 0 && time.Since(s.goneSince) < goneGrace {
		return snap, &UnsettledError{snap.Gone}
	}
	s.logProblems(snap)
	return snap, nil
}

func (s *Steady) logProblems(snap Snapshot) {
	if s.Logger == nil {
		return
	}
	gone := snap.Gone[:min(len(snap.Gone), maxNamed)]
	for _, path := range gone {
		s.once("gone "+path, func() { s.Logger.Warn("Symlink has no target, the server cannot read this file", "path", path) })
	}
	for _, d := range snap.Dirs {
		switch {
		case d.Missing:
			s.once("missing "+d.Path, func() { s.Logger.Warn("Folder does not exist, waiting for it", "path", d.Path) })
		case !Mounted(d.Path):
			s.once("plain "+d.Path, func() {
				s.Logger.Info("Folder has no ..data symlink, so it is not a mounted Secret or ConfigMap; a subPath mount is never updated", "path", d.Path)
			})
		}
		if !d.Missing {
			delete(s.logged, "missing "+d.Path)
		}
	}
	for key := range s.logged {
		if path, ok := strings.CutPrefix(key, "gone "); ok && !slices.Contains(gone, path) {
			delete(s.logged, key)
		}
	}
}

func (s *Steady) once(key string, say func()) {
	if s.logged == nil {
		s.logged = map[string]bool{}
	}
	if !s.logged[key] {
		s.logged[key] = true
		say()
	}
}
