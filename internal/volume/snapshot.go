package volume

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Snapshot is the content of a list of folders at one time.
type Snapshot struct {
	// Version is a SHA-256 in hex over all folders in order. Equal versions mean equal visible content.
	Version string
	Dirs    []DirSum
	// Gone lists links without a target and files that vanished while they were read, the first maxGone of each
	// folder. That is normal for some milliseconds during a kubelet update, and an error if it persists.
	Gone []string
}

// maxGone is the maximum number of paths of a folder in [Snapshot.Gone].
const maxGone = 1000

// DirSum is the content of one folder.
type DirSum struct {
	Path string `json:"path"`
	// SHA256 is hex over the visible files, see SumFiles.
	SHA256 string `json:"sha256"`
	Files  int    `json:"files"`
	// Missing: the folder does not exist (an optional ConfigMap, a volume still to be mounted). It counts as empty.
	Missing bool `json:"missing,omitempty"`
}

// Missing returns the paths of folders that do not exist.
func (s Snapshot) Missing() (paths []string) {
	for _, d := range s.Dirs {
		if d.Missing {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// Reader takes snapshots. It reuses its buffer, so it is not safe for concurrent use.
type Reader struct {
	// Skip reports whether to skip a file, by its path; nil skips none.
	Skip func(path string) bool
	// Reuse is how long the checksum of a file is used again while its inode, size and time do not change; 0: never.
	Reuse time.Duration

	buf  []byte
	sums map[string]knownSum
}

// Take reads all visible files below dirs.
//
// Errors: a folder or file cannot be read, except if it does not exist; ctx ended.
func (r *Reader) Take(ctx context.Context, dirs []string) (Snapshot, error) {
	s := Snapshot{Dirs: make([]DirSum, 0, len(dirs))}
	all := sha256.New()
	for _, dir := range dirs {
		d, gone, err := r.sumDir(ctx, dir)
		if err != nil {
			return Snapshot{}, fmt.Errorf("read folder %s: %w", dir, withoutPath(err, dir))
		}
		s.Dirs = append(s.Dirs, d)
		s.Gone = append(s.Gone, gone...)
		fmt.Fprintf(all, "%s\x00%s\x00", d.Path, d.SHA256)
	}
	s.Version = hex.EncodeToString(all.Sum(nil))
	return s, nil
}

func (r *Reader) sumDir(ctx context.Context, dir string) (d DirSum, gone []string, err error) {
	d.Path = dir
	sum, entry := sha256.New(), make([]byte, 0, 256)
	missing := func(path string) {
		if len(gone) < maxGone {
			gone = append(gone, path)
		}
	}
	err = walk(ctx, dir, visitor{
		file: func(rel, path string, info fs.FileInfo) error {
			if r.Skip != nil && r.Skip(path) {
				return nil
			}
			content, err := r.sumOf(ctx, path, info)
			if errors.Is(err, fs.ErrNotExist) {
				missing(path)
				return nil
			}
			if err == nil {
				d.Files++
				entry = addFile(sum, entry, rel, content)
			}
			return err
		},
		gone: func(_, path string) { missing(path) },
	})
	if errors.Is(err, fs.ErrNotExist) {
		d.Missing, err = true, nil
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return d, gone, err
}

func (r *Reader) sumFile(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	f, err := Open(ctx, path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	if r.buf == nil {
		r.buf = make([]byte, 32<<10)
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, f, r.buf); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// addFile adds a file to a checksum. It returns buf, which it uses, for the next file.
func addFile(sum hash.Hash, buf []byte, rel string, content [sha256.Size]byte) []byte {
	buf = append(append(append(buf[:0], filepath.ToSlash(rel)...), 0), content[:]...)
	sum.Write(buf)
	return buf
}

// SumFiles returns the SHA256 of the [DirSum] of a folder with exactly these files. The writer of a ConfigMap can
// compare it to find out whether a reader has read it.
//
// The digest covers, for each file in the order of a folder walk, its path relative to the folder with slashes, a
// zero byte, and the 32 bytes of the SHA-256 of its content.
func SumFiles(files map[string][]byte) string {
	sums := make(map[string][sha256.Size]byte, len(files))
	for rel, content := range files {
		sums[rel] = sha256.Sum256(content)
	}
	return SumDigests(sums)
}

// SumDigests is like [SumFiles] for callers that have the SHA-256 of each file's content.
func SumDigests(files map[string][sha256.Size]byte) string {
	sum, entry := sha256.New(), make([]byte, 0, 256)
	for _, rel := range slices.SortedFunc(maps.Keys(files), compareWalkOrder) {
		entry = addFile(sum, entry, rel, files[rel])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// compareWalkOrder compares paths by component, like a walk: "a/z" sorts before "a.b".
func compareWalkOrder(a, b string) int {
	if !nested(a) && !nested(b) { // fast path for nearly all names
		return strings.Compare(a, b)
	}
	return slices.Compare(splitPath(a), splitPath(b))
}

// nested reports whether a path may have more than one component.
func nested(p string) bool {
	return strings.ContainsRune(p, '/') || strings.ContainsRune(p, filepath.Separator)
}

func splitPath(p string) []string {
	dir, base := filepath.Split(filepath.FromSlash(p))
	if dir == "" {
		return []string{base}
	}
	return append(splitPath(filepath.Clean(dir)), base)
}

// withoutPath removes the path from err if the message already has it.
func withoutPath(err error, path string) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && pe.Path == path {
		return pe.Err
	}
	return err
}
