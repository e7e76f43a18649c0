package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// fileID tells two folders apart even when one takes the other's path.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), st.Ino}
}

// kubeletOwn is true for names the kubelet keeps for itself: "..data", "..2026_01_31…".
func kubeletOwn(name string) bool { return strings.HasPrefix(name, "..") }

// visitor receives what a program that follows links would see below a root.
type visitor struct {
	dir  func(path string, info fs.FileInfo)            // the root and every folder below it
	file func(rel, path string, info fs.FileInfo) error // regular files only
	gone func(rel, path string)                         // a link without target, or a name that vanished while walking
}

// walk visits root in lexical order. Links are followed, the kubelet's own names
// and special files are left out, and a folder that contains itself is entered once.
func walk(root string, v visitor) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "read folder", Path: root, Err: syscall.ENOTDIR}
	}
	return walkDir(root, "", info, nil, v)
}

func walkDir(path, rel string, info fs.FileInfo, above []fileID, v visitor) error {
	id := idOf(info)
	if slices.Contains(above, id) {
		return nil
	}
	above = append(slices.Clip(above), id)
	if v.dir != nil {
		v.dir(path, info)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kubeletOwn(e.Name()) || v.file == nil && e.Type().IsRegular() {
			continue
		}
		if err := walkEntry(filepath.Join(path, e.Name()), filepath.Join(rel, e.Name()), above, v); err != nil {
			return err
		}
	}
	return nil
}

func walkEntry(path, rel string, above []fileID, v visitor) error {
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
		err := walkDir(path, rel, info, above, v)
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
