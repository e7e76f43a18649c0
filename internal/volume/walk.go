package volume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// fileID identifies a folder independent of its path.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), st.Ino}
}

// kubeletOwn reports whether name is reserved by the kubelet: "..data",
// "..2026_01_31...".
func kubeletOwn(name string) bool { return strings.HasPrefix(name, "..") }

// Limits of one walk. Links can make a folder appear at any number of paths, or lead to the root of the file system.
const (
	// maxEntries is the maximum number of files and folders.
	maxEntries = 200_000
	// maxNames is the maximum size of all their names in bytes: those of a folder are in memory together.
	maxNames = 16 << 20
	// batch is the number of entries that are read at a time.
	batch = 1000
)

// visitor has the callbacks of walk. Each may be nil.
type visitor struct {
	dir  func(path string, info fs.FileInfo)            // the root and every folder below it
	file func(rel, path string, info fs.FileInfo) error // regular files only
	gone func(rel, path string)                         // a link without a target, or a name that vanished during the walk
}

// walk visits root in lexical order. It follows links, skips the kubelet's own names and
// special files, and enters a folder that contains itself only once.
//
// Errors: those of the file system; more than the limits; ctx ended, which is checked before
// each entry.
func walk(ctx context.Context, root string, v visitor) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "read folder", Path: root, Err: syscall.ENOTDIR}
	}
	w := walker{ctx, v, maxEntries, maxNames}
	return w.dir(root, "", info, nil)
}

// walker is a walk with the number of entries, and of bytes of their names, that it may still visit.
type walker struct {
	ctx   context.Context //nolint:containedctx // of the one call of walk
	v     visitor
	left  int
	names int
}

func (w *walker) dir(path, rel string, info fs.FileInfo, above []fileID) error {
	id := idOf(info)
	if slices.Contains(above, id) {
		return nil
	}
	above = append(slices.Clip(above), id)
	if w.v.dir != nil {
		w.v.dir(path, info)
	}
	names, err := w.list(path, func(e fs.DirEntry) bool { return w.v.file != nil || !e.Type().IsRegular() })
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := w.entry(filepath.Join(path, name), filepath.Join(rel, name), above); err != nil {
			return err
		}
	}
	return nil
}

// ReadNames returns the sorted names in a folder without the kubelet's own.
//
// Errors: those of the file system; more names than the limits of a walk.
func ReadNames(ctx context.Context, path string) ([]string, error) {
	w := walker{ctx: ctx, left: maxEntries, names: maxNames}
	return w.list(path, func(fs.DirEntry) bool { return true })
}

// list returns the sorted names in a folder for which keep returns true, without the kubelet's own. It reads no more
// than the limits permit.
func (w *walker) list(path string, keep func(fs.DirEntry) bool) (names []string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		some, err := f.ReadDir(batch)
		for _, e := range some {
			w.left--
			w.names -= len(e.Name())
			if !kubeletOwn(e.Name()) && keep(e) {
				names = append(names, e.Name())
			}
		}
		switch {
		case w.left < 0:
			return nil, fmt.Errorf("more than %d files and folders, up to %s", maxEntries, path)
		case w.names < 0:
			return nil, fmt.Errorf("names of files and folders with more than %d MiB, up to %s", maxNames>>20, path)
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, err
		case w.ctx.Err() != nil:
			return nil, w.ctx.Err()
		}
	}
}

// noTarget reports whether an error of [os.Stat] means that a link leads nowhere: to nothing, to itself, or through
// a file.
func noTarget(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR)
}

func (w *walker) entry(path, rel string, above []fileID) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	v := w.v
	info, err := os.Stat(path)
	switch {
	case noTarget(err):
		if v.gone != nil {
			v.gone(rel, path)
		}
		return nil
	case err != nil:
		return err
	case info.IsDir():
		err := w.dir(path, rel, info, above)
		if errors.Is(err, fs.ErrNotExist) { // removed between the two calls
			if v.gone != nil {
				v.gone(rel, path)
			}
			return nil
		}
		return err
	case info.Mode().IsRegular() && v.file != nil:
		return v.file(rel, path, info)
	}
	return nil
}
