package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

// File is one input and where it goes.
type File struct {
	Input string
	// Output is written with mode 0644. Empty: the input is only hashed, as it is.
	Output string
}

// Dir is a folder whose direct entries are inputs; each goes to Output under its
// own name. Subfolders and names that start with ".." are left out.
type Dir struct{ Input, Output string }

// Options say what to render.
type Options struct {
	Files    []File
	Dirs     []Dir
	Expander *expand.Expander
	// MaxSize bounds one output in bytes; 0 means DefaultMaxSize.
	MaxSize int64
}

// DefaultMaxSize is far above any working configuration and keeps a mistake from filling the volume.
const DefaultMaxSize = 256 << 20

// Result is one rendered input.
type Result struct {
	Input  string `json:"input"`
	Output string `json:"output,omitempty"`
	// InputSHA256 is over the raw bytes of the input, in hex.
	InputSHA256 string `json:"inputSha256"`
	// OutputSHA256 is over the bytes of the output; empty without output.
	OutputSHA256 string `json:"outputSha256,omitempty"`
	// Unset are the references that stayed because no variable has their name.
	Unset expand.Unset `json:"-"`
	// Written: this call replaced the output.
	Written bool `json:"-"`
}

// Content identifies what a server reads from this input.
func (r Result) Content() string {
	if r.Output == "" {
		return r.InputSHA256
	}
	return r.OutputSHA256
}

// Renderer renders the same inputs again and again. It serves one goroutine.
type Renderer struct {
	opts   Options
	stream stream
	known  map[File]known // what the last good call left behind
}

// known is an output this process has seen.
type known struct {
	result Result
	info   fs.FileInfo // of the output file, to notice when somebody else touches it
}

// New returns a renderer that knows nothing of earlier runs.
func New(o Options) *Renderer {
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	return &Renderer{
		opts:   o,
		stream: stream{expander: o.Expander, maxSize: o.MaxSize},
		known:  map[File]known{},
	}
}

// Temporary is the name under which an output is written before its rename.
func Temporary(output string) string { return output + ".tmp" }

// Owns reports whether path is written by this renderer.
func (r *Renderer) Owns(path string) bool {
	path = strings.TrimSuffix(absolute(path), ".tmp")
	for _, f := range r.opts.Files {
		if f.Output != "" && absolute(f.Output) == path {
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

// Handles reports whether path is an output, or an input whose output is what the
// server reads: another form of the same content (compressed anew) is no change then.
func (r *Renderer) Handles(path string) bool {
	if r.Owns(path) {
		return true
	}
	path = absolute(path)
	for _, f := range r.opts.Files {
		if f.Output != "" && absolute(f.Input) == path {
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

// absolute makes paths comparable however the user wrote them.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// Render brings all outputs up to date. The results are in the order of the files, then the folders' entries by name.
//
// Errors name the input or output; an output that could not be replaced is as it was.
func (r *Renderer) Render() ([]Result, error) {
	files, err := r.files()
	if err != nil {
		return nil, err
	}
	jobs := make([]job, 0, len(files))
	defer func() {
		for _, j := range jobs {
			j.discard()
		}
	}()
	for _, f := range files {
		j, err := r.prepare(f)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	results := make([]Result, 0, len(jobs))
	for i := range jobs {
		if err := r.publish(&jobs[i]); err != nil {
			return nil, err
		}
		results = append(results, jobs[i].result)
	}
	return results, r.removeVanished(files)
}

// files lists what there is to render now.
func (r *Renderer) files() ([]File, error) {
	files := append([]File(nil), r.opts.Files...)
	for _, d := range r.opts.Dirs {
		entries, err := os.ReadDir(d.Input)
		if err != nil {
			return nil, fmt.Errorf("read config folder: %w", err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "..") {
				continue
			}
			path := filepath.Join(d.Input, e.Name())
			info, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("read config folder: %w", err)
			}
			if info.Mode().IsRegular() {
				files = append(files, File{path, filepath.Join(d.Output, e.Name())})
			}
		}
	}
	return files, nil
}

// job is one file on its way through Render.
type job struct {
	file   File
	result Result
	temp   string // staged output; empty when nothing has to be replaced
}

func (j job) discard() {
	if j.temp != "" {
		os.Remove(j.temp)
	}
}

// prepare renders f beside its output, unless it is known to be there already.
func (r *Renderer) prepare(f File) (job, error) {
	j := job{file: f}
	sum, err := r.stream.hash(f.Input)
	if err != nil {
		return j, fmt.Errorf("read config: %w", err)
	}
	if f.Output == "" {
		j.result = Result{Input: f.Input, InputSHA256: sum}
		return j, nil
	}
	k, ok := r.known[f]
	untouched := ok && sameFile(k.info, f.Output)
	if untouched && k.result.InputSHA256 == sum {
		j.result = k.result
		j.result.Written = false
		return j, nil
	}
	j.temp = Temporary(f.Output)
	if j.result, err = r.stream.stage(f, j.temp); err != nil {
		j.discard()
		return j, err
	}
	current := ""
	if untouched {
		current = k.result.OutputSHA256
	} else if current, err = r.stream.hash(f.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		current = "" // unreadable: replaced like any other old content
	}
	if current == j.result.OutputSHA256 && readable(f.Output) {
		j.discard()
		j.temp = ""
	}
	return j, nil
}

// publish makes the staged output visible and remembers it.
func (r *Renderer) publish(j *job) error {
	if j.file.Output == "" {
		return nil
	}
	if j.temp != "" {
		if err := os.Rename(j.temp, j.file.Output); err != nil {
			return fmt.Errorf("replace output: %w", err)
		}
		j.temp = ""
		j.result.Written = true
	}
	info, err := os.Stat(j.file.Output)
	if err != nil {
		return fmt.Errorf("replace output: %w", err)
	}
	r.known[j.file] = known{j.result, info}
	return nil
}

// removeVanished deletes outputs of folder entries that are gone since the last call.
func (r *Renderer) removeVanished(files []File) error {
	now := make(map[File]bool, len(files))
	for _, f := range files {
		now[f] = true
	}
	for f := range r.known {
		if now[f] {
			continue
		}
		if err := os.Remove(f.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove output of a vanished input: %w", err)
		}
		delete(r.known, f)
	}
	return nil
}

// sameFile reports whether path still is the file that was left there.
func sameFile(was fs.FileInfo, path string) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(was, now) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime()) && now.Mode() == was.Mode()
}

// readable reports whether every user may read path: the server may run as another one.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o444 == 0o444
}
