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

// maxEntries is the maximum number of files and folders of one walk. Links can make a folder appear at
// any number of paths, or lead to the root of the file system.
const maxEntries = 200_000

// batch is the number of entries of a folder that are read at once.
const batch = 1000

// visitor has the callbacks of walk. Each may be nil.
type visitor struct {
	dir  func(path string, info fs.FileInfo)            // the root and every folder below it
	file func(rel, path string, info fs.FileInfo) error // regular files only
	gone func(rel, path string)                         // a link without a target, or a name that vanished during the walk
}

// walk visits root in lexical order. It follows links, skips the kubelet's own names and
// special files, and enters a folder that contains itself only once.
//
// Errors: those of the file system; more than maxEntries; ctx ended, which is checked before
// each entry.
func walk(ctx context.Context, root string, v visitor) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "read folder", Path: root, Err: syscall.ENOTDIR}
	}
	return walkAtMost(ctx, root, info, v, maxEntries)
}

// walkAtMost is like walk for a folder and another limit.
func walkAtMost(ctx context.Context, root string, info fs.FileInfo, v visitor, most int) error {
	w := walking{ctx, v, most, most}
	return w.dir(root, "", info, nil)
}

// walking is a walk with the number of entries that it may still visit.
type walking struct {
	ctx  context.Context //nolint:containedctx // of the one call of walk
	v    visitor
	most int
	left int
}

func (w *walking) dir(path, rel string, info fs.FileInfo, above []fileID) error {
	id := idOf(info)
	if slices.Contains(above, id) {
		return nil
	}
	above = append(slices.Clip(above), id)
	if w.v.dir != nil {
		w.v.dir(path, info)
	}
	entries, err := w.read(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kubeletOwn(e.Name()) || w.v.file == nil && e.Type().IsRegular() {
			continue
		}
		if err := w.entry(filepath.Join(path, e.Name()), filepath.Join(rel, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

// read returns the entries of a folder, sorted by name. It reads no more of them than the walk may visit.
func (w *walking) read(path string) (all []fs.DirEntry, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY, 0) // not a pipe that has taken its place
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		some, err := f.ReadDir(batch)
		all = append(all, some...)
		switch w.left -= len(some); {
		case w.left < 0:
			return nil, fmt.Errorf("more than %d files and folders, up to %s", w.most, path)
		case errors.Is(err, io.EOF):
			slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

func (w *walking) entry(path, rel string, above []fileID) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	v := w.v
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
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
