package render

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// RulesDir is the folder next to the output with the unpacked rule files of a
// configuration. It is a link to a folder with one version:
//
//	rules -> .rules-5f0c6e...
//	.rules-5f0c6e.../demo-web-....yaml
//
// so that a reader always sees one complete version.
const RulesDir = "rules"

const (
	versionPrefix = ".rules-"
	// maxRuleFiles is the maximum number of files in an archive.
	maxRuleFiles = 100_000
)

// ruleFileName matches the operator's names of rule files. It ensures that every file is
// visible and inside the folder.
var ruleFileName = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9._]{0,247}\.yaml$`)

// unpackedVersion is the current target of the link.
type unpackedVersion struct {
	sum     string // of the stream
	version string // folder
	dir     volume.DirSum
	bytes   int64 // bytes in an in-memory volume
}

// archive is a version of the rules during Render.
type archive struct {
	link    string // path of RulesDir
	version string // folder next to it, "" without rules
	fresh   bool   // version must be linked
	now     unpackedVersion

	files  parts.Stream // of the archive
	bytes  int64        // of the files in an in-memory volume
	absent bool         // not written, because it does not fit next to the existing files
}

// linked returns the version that the link refers to, or "" if it is not a link of this
// program.
func (a archive) linked() string {
	target, err := os.Readlink(a.link)
	if err != nil || !strings.HasPrefix(target, versionPrefix) {
		return ""
	}
	return target
}

// prepareRules unpacks the rules next to the link, unless the cached state shows that
// they are already there.
func (r *Renderer) prepareRules(f File, l parts.List) (archive, error) {
	a := archive{link: filepath.Join(filepath.Dir(f.Output), RulesDir), files: l.Rules}
	target := a.linked()
	if len(l.Rules) == 0 {
		return a, nil
	}
	if _, err := os.Lstat(a.link); err == nil && target == "" {
		return a, fmt.Errorf("unpack rules: %s already exists and is not a symlink of this program", a.link)
	}
	a.now.sum = l.Rules.Sum()
	a.version = versionPrefix + a.now.sum[:32]
	if was, ok := r.rules[a.link]; ok && was.sum == a.now.sum && was.version == target && isDir(filepath.Join(filepath.Dir(a.link), target)) {
		a.now, a.version, a.bytes = was, target, was.bytes
		return a, nil
	}
	a.fresh = true
	if err := a.sweep(target); err != nil {
		return a, fmt.Errorf("unpack rules: %w", err)
	}
	if a.version == target { // left by an earlier run: unpacked again, because it may be incomplete
		a.version += "-2"
	}
	dir, bytes, kept, err := r.stream.unpack(l.Rules, partsDir(f.Input), a.dir())
	a.now.dir, a.now.bytes, a.bytes, a.absent = dir, bytes, bytes, !kept
	if err == nil && !kept && target != "" && r.stream.holds(filepath.Join(filepath.Dir(a.link), target), dir) {
		a.version, a.fresh, a.absent = target, false, false // an earlier run unpacked the same files
	}
	a.now.dir.Path, a.now.version = a.link, a.version
	return a, err
}

// holds reports whether a folder has exactly the files of this sum, all of them
// world-readable.
func (s *stream) holds(dir string, want volume.DirSum) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want.Files {
		return false
	}
	sums := map[string][sha256.Size]byte{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := s.hash(path)
		if err != nil || !readable(path) {
			return false
		}
		var sum [sha256.Size]byte
		if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
			return false
		}
		sums[e.Name()] = sum
	}
	return volume.SumDigests(sums) == want.SHA256
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (a archive) dir() string { return filepath.Join(filepath.Dir(a.link), a.version) }

// discard removes an unpacked version that is not used.
func (a archive) discard() {
	if a.fresh {
		os.RemoveAll(a.dir())
	}
}

// publish links the new version.
func (a *archive) publish() error {
	if !a.fresh {
		return nil
	}
	temp := temporary(a.link)
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unpack rules: %w", err)
	}
	if err := os.Symlink(a.version, temp); err != nil {
		return fmt.Errorf("unpack rules: %w", err)
	}
	if err := os.Rename(temp, a.link); err != nil {
		return fmt.Errorf("unpack rules: %w", err)
	}
	a.fresh = false
	return nil
}

// remove removes the link if no rules are wanted.
func (a archive) remove() error {
	target, err := os.Readlink(a.link)
	if err != nil || !strings.HasPrefix(target, versionPrefix) {
		return nil // there is none, or it is not ours
	}
	if err := os.Remove(a.link); err != nil {
		return fmt.Errorf("remove rules: %w", err)
	}
	return a.sweep("")
}

// sweep removes all versions except the linked one. The previous version is kept until
// the next one is unpacked, because a server may still be reading it.
func (a archive) sweep(linked string) error {
	entries, err := os.ReadDir(filepath.Dir(a.link))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), versionPrefix) && e.Name() != linked {
			if err := os.RemoveAll(filepath.Join(filepath.Dir(a.link), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack writes the files of a tar archive to a new folder. After an error the folder may
// exist and is incomplete. bytes is the size of the files in an in-memory volume; kept is
// false, and there is no folder, if they did not fit.
func (s *stream) unpack(files parts.Stream, from, to string) (dir volume.DirSum, bytes int64, kept bool, err error) {
	in := &joinedReader{ctx: s.ctx, dir: from, rest: files}
	defer in.Close()
	content, err := s.open(in)
	if err != nil {
		return dir, 0, false, fmt.Errorf("gunzip %s: %w", files[0].Name, err)
	}
	if err = os.Mkdir(to, 0o755); err == nil {
		err = os.Chmod(to, 0o755) // independent of the umask
	}
	if err != nil {
		return dir, 0, false, fmt.Errorf("unpack rules: %w", err)
	}
	w := unpacker{stream: s, to: to, kept: true, sums: map[string][sha256.Size]byte{}}
	left := &limitedReader{r: content, left: s.maxSize, max: s.maxSize}
	if err = w.all(tar.NewReader(left)); err == nil {
		// The rest of the stream matters only for the checksums of the files.
		_, err = io.Copy(io.Discard, left)
	}
	if err != nil {
		return dir, 0, false, fmt.Errorf("unpack rules: %w", err)
	}
	return volume.DirSum{SHA256: volume.SumDigests(w.sums), Files: len(w.sums)}, w.bytes, w.kept, nil
}

// unpacker is the state of one call of unpack.
type unpacker struct {
	*stream
	to    string
	sums  map[string][sha256.Size]byte
	plain int64 // size of the files, which a sparse archive does not contain
	bytes int64
	kept  bool
}

func (w *unpacker) all(archive *tar.Reader) error {
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch _, twice := w.sums[h.Name]; {
		case h.Typeflag != tar.TypeReg || !ruleFileName.MatchString(h.Name):
			return fmt.Errorf("%.200q is not a regular file with the name of a rule file", h.Name)
		case twice:
			return fmt.Errorf("%q occurs twice", h.Name)
		case len(w.sums) == maxRuleFiles:
			return fmt.Errorf("more than %d files", maxRuleFiles)
		}
		if w.plain += h.Size; w.plain > w.maxSize {
			return tooLarge(w.maxSize)
		}
		if err := w.keep(h.Size); err != nil {
			return err
		}
		path := ""
		if w.kept {
			path = filepath.Join(w.to, h.Name)
		}
		if w.sums[h.Name], err = w.writeRules(path, archive); err != nil {
			return err
		}
	}
}

// keep reserves room for another file, or drops all of them.
func (w *unpacker) keep(size int64) error {
	need := footprint.InMemoryVolume(size)
	before := w.bytes
	w.bytes += need
	if err := w.room.check(w.bytes); err != nil {
		return err
	}
	if !w.kept || w.room.take(need) {
		return nil
	}
	w.kept = false
	w.room.give(before)
	return os.RemoveAll(w.to)
}

// writeRules returns the checksum of a file, and writes it unless path is empty.
func (s *stream) writeRules(path string, from io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	var to io.Writer = h
	closeFile := func() error { return nil }
	if path != "" {
		f, err := create(path)
		if err != nil {
			return sum, err
		}
		defer f.Close()
		to, closeFile = io.MultiWriter(h, f), f.Close
	}
	if s.copyBuf == nil {
		s.copyBuf = make([]byte, copySize)
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, s.copyBuf); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, closeFile()
}

// limitedReader returns an error after max bytes.
type limitedReader struct {
	r         io.Reader
	max, left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.max)
	}
	return n, err
}
