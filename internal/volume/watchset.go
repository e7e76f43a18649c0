package volume

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// root is one path the user asked for.
type root struct {
	path string
	deep bool // subfolders count too
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

// watch is one folder under watch.
type watch struct {
	path string
	// names limits relevant events to these; nil means all. A folder above a root is
	// watched for the root's sake only.
	names map[string]bool
}

// watchSet is what is watched now. Folders are told apart by inode: the kernel
// has one watch per inode, and a path may get a new one.
type watchSet struct {
	byID   map[fileID]watch
	byPath map[string]watch
}

func (s *watchSet) has(path string) bool { _, ok := s.byPath[path]; return ok }

// folders counts watches that are there for their content.
func (s *watchSet) folders() (n int) {
	for _, w := range s.byID {
		if w.names == nil {
			n++
		}
	}
	return n
}

// relevant reports whether an event for a name in dir can concern a root.
func (s *watchSet) relevant(dir, name string) bool {
	w, ok := s.byPath[dir]
	return !ok || w.names == nil || w.names[name] || filepath.Base(dir) == name
}

// update adds and removes watches until they fit the roots. A folder that cannot
// be watched does not keep others from it; the first such error is returned.
func (s *watchSet) update(b *fsnotify.Watcher, roots []root) (moved bool, err error) {
	want := wanted(roots)
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
			_ = b.Remove(w.path) // may have vanished this moment, which is what is wanted
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

// wanted lists the folders to watch for the roots as they are on disk now.
func wanted(roots []root) map[fileID]watch {
	want := map[fileID]watch{}
	for _, r := range roots {
		addAbove(want, r.path)
		if r.deep {
			// What cannot be read is left out here; reading the content reports it.
			_ = walk(r.path, visitor{dir: func(path string, info fs.FileInfo) { whole(want, path, info) }})
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

// addAbove adds the folders that decide what path is: the nearest existing one
// while path does not exist, and the one that holds each link on the way to it.
func addAbove(want map[fileID]watch, path string) {
	for child, dir := path, filepath.Dir(path); child != dir; child, dir = dir, filepath.Dir(dir) {
		info, err := os.Lstat(child)
		if err == nil && info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		holder, err := os.Stat(dir)
		if err != nil || !holder.IsDir() {
			continue // a folder further up stands in
		}
		id := idOf(holder)
		w, ok := want[id]
		if ok && w.names == nil {
			continue // watched as a whole
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
