package volume

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// root is a path that was requested.
type root struct {
	path string
	deep bool // include subfolders
}

func rootsOf(dirs, files []string) []root {
	roots := make([]root, 0, len(dirs)+len(files))
	for _, d := range dirs {
		roots = append(roots, root{filepath.Clean(d), true})
	}
	for _, f := range files {
		roots = append(roots, root{filepath.Dir(filepath.Clean(f)), false})
	}
	return roots
}

// watch is a watched folder.
type watch struct {
	path string
	// names restricts the relevant events to these names; nil means all. A parent of a
	// root is only watched for the root.
	names map[string]bool
}

// watchSet is the set of current watches. Folders are identified by inode: the kernel has
// one watch per inode, and a path may get a new inode.
type watchSet struct {
	byID   map[fileID]watch
	byPath map[string]watch
}

func (s *watchSet) has(path string) bool { _, ok := s.byPath[path]; return ok }

// folders returns the number of folders that are watched for their content.
func (s *watchSet) folders() (n int) {
	for _, w := range s.byID {
		if w.names == nil {
			n++
		}
	}
	return n
}

// relevant reports whether an event for a name in dir may concern a root.
func (s *watchSet) relevant(dir, name string) bool {
	w, ok := s.byPath[dir]
	return !ok || w.names == nil || w.names[name] || filepath.Base(dir) == name
}

// update adds and removes watches until they match the roots. A folder that cannot be
// watched does not prevent the others from being watched; the first such error is
// returned. If ctx ends during the walk, nothing is changed.
func (s *watchSet) update(ctx context.Context, b *fsnotify.Watcher, roots []root) (moved bool, err error) {
	want := wanted(ctx, roots)
	if ctx.Err() != nil {
		return false, nil
	}
	alive := map[string]bool{}
	for _, p := range b.WatchList() {
		alive[p] = true
	}
	now := watchSet{byID: map[fileID]watch{}, byPath: map[string]watch{}}
	for id, w := range s.byID {
		n, still := want[id]
		if still && n.path == w.path && alive[w.path] {
			now.add(id, n)
			delete(want, id)
			continue
		}
		moved = true
		if alive[w.path] {
			_ = b.Remove(w.path) // it may just have vanished, which is fine
		}
	}
	for id, w := range want {
		if e := b.Add(w.path); e != nil {
			if err == nil {
				err = &fs.PathError{Op: "watch", Path: w.path, Err: e}
			}
			continue
		}
		now.add(id, w)
		moved = true
	}
	*s = now
	return moved, err
}

func (s *watchSet) add(id fileID, w watch) {
	s.byID[id] = w
	s.byPath[w.path] = w
}

// wanted returns the folders to watch for the roots, as they currently exist. It is incomplete if ctx ends.
func wanted(ctx context.Context, roots []root) map[fileID]watch {
	want := map[fileID]watch{}
	for _, r := range roots {
		addAbove(want, r.path)
		if r.deep {
			// Folders that cannot be read are skipped. Reading the content reports the
			// error.
			_ = walk(ctx, r.path, visitor{dir: func(path string, info fs.FileInfo) { whole(want, path, info) }})
			continue
		}
		if info, err := os.Stat(r.path); err == nil && info.IsDir() {
			whole(want, r.path, info)
		}
	}
	return want
}

func whole(want map[fileID]watch, path string, info fs.FileInfo) {
	id := idOf(info)
	if w, ok := want[id]; ok {
		path = w.path
	}
	want[id] = watch{path: path}
}

// addAbove adds the folders whose changes affect what path refers to: the nearest
// existing one while path does not exist, and the folder of each link on the way to it.
func addAbove(want map[fileID]watch, path string) {
	for child, dir := path, filepath.Dir(path); child != dir; child, dir = dir, filepath.Dir(dir) {
		info, err := os.Lstat(child)
		if err == nil && info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		holder, err := os.Stat(dir)
		if err != nil || !holder.IsDir() {
			continue // a parent covers it
		}
		id := idOf(holder)
		w, ok := want[id]
		if ok && w.names == nil {
			continue // already watched as a whole
		}
		if !ok {
			w = watch{path: dir, names: map[string]bool{}}
		}
		w.names = maps.Clone(w.names)
		w.names[filepath.Base(child)] = true
		if info != nil && info.Mode()&fs.ModeSymlink != 0 {
			w.names[DataLink] = true // a link of a kubelet volume moves with ..data
		}
		want[id] = w
	}
}
