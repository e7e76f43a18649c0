package render

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// temporary returns the path to which an output is written before it is renamed.
func temporary(output string) string { return output + ".tmp" }

// Owns reports whether path is written by this renderer.
func (r *Renderer) Owns(path string) bool {
	path = strings.TrimSuffix(absolute(path), ".tmp")
	for _, f := range r.opts.Files {
		if f.Output == "" {
			continue
		}
		output := absolute(f.Output)
		if output == path || r.ownsRules(filepath.Dir(output), path) {
			return true
		}
	}
	for _, d := range r.opts.Dirs {
		if absolute(d.Output) == filepath.Dir(path) {
			return true
		}
	}
	return false
}

// ownsRules reports whether path belongs to rules that were unpacked in dir.
func (r *Renderer) ownsRules(dir, path string) bool {
	below, ok := strings.CutPrefix(path, filepath.Clean(dir)+string(filepath.Separator))
	if !ok {
		return false
	}
	top, _, _ := strings.Cut(below, string(filepath.Separator))
	r.mu.Lock()
	_, linked := r.rules[filepath.Join(dir, RulesDir)]
	r.mu.Unlock()
	return strings.HasPrefix(top, versionPrefix) || top == RulesDir && linked
}

// Handles reports whether path is an output, or an input with an output. The server reads the
// output, so another form of the same content (such as another compression) is not a change.
func (r *Renderer) Handles(path string) bool {
	if r.Owns(path) {
		return true
	}
	path = absolute(path)
	for _, f := range r.opts.Files {
		if f.Output == "" {
			continue
		}
		input := absolute(f.Input)
		if input == path || filepath.Dir(input) == filepath.Dir(path) && parts.Own(filepath.Base(path)) {
			return true
		}
	}
	for _, d := range r.opts.Dirs {
		if absolute(d.Input) == filepath.Dir(path) {
			return true
		}
	}
	return false
}

// absolute returns a path that can be compared, however it was written.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// sameFile reports whether path is still the file that was written.
func sameFile(was fs.FileInfo, path string) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(was, now) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime()) && now.Mode() == was.Mode()
}

// readable reports whether path is world-readable: the server may run as another user.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o444 == 0o444
}
