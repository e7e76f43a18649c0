package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

// File is an input and its output.
type File struct {
	Input string
	// Output is written with mode 0644. If it is empty, the input is only hashed as it is.
	Output string
}

// Dir is a folder whose direct entries are inputs. Each is written to the folder Output with the
// same name. Subfolders and names that start with ".." are skipped.
type Dir struct{ Input, Output string }

// Options configure a [Renderer].
type Options struct {
	Files    []File
	Dirs     []Dir
	Expander *expand.Expander
	// MaxSize limits the size of one output in bytes; 0 means defaultMaxSize.
	MaxSize int64
	// Budget limits the total size of all outputs in an in-memory volume, counted with
	// footprint.InMemoryVolume; 0 means no limit. New outputs that do not fit next to the old ones
	// replace them in place.
	Budget int64
}

// defaultMaxSize is far above any working configuration. It prevents a mistake from filling the
// volume.
const defaultMaxSize = footprint.MaxFileBytes

// maxFiles is the maximum number of inputs, whose results are kept in memory.
const maxFiles = 10_000

// Result is the result for one input.
type Result struct {
	Input  string `json:"input"`
	Output string `json:"output,omitempty"`
	// InputSHA256 is over the raw bytes of the input, in hex; of an input in parts
	// it is parts.Stream.Sum.
	InputSHA256 string `json:"inputSha256"`
	// OutputSHA256 is over the bytes of the output; empty without output.
	OutputSHA256 string `json:"outputSha256,omitempty"`
	// Rules is the folder of unpacked rules; nil without.
	Rules *volume.DirSum `json:"-"`
	// Unset are the references that stayed because no variable has their name.
	Unset expand.Unset `json:"-"`
	// Written: this call replaced the output.
	Written bool `json:"-"`
}

// Content returns a hash of the content that a server reads from this input.
func (r Result) Content() string {
	if r.Output == "" {
		return r.InputSHA256
	}
	return r.OutputSHA256
}

// Renderer renders the same inputs repeatedly. It is not safe for concurrent use, except for Owns
// and Handles.
type Renderer struct {
	opts   Options
	stream stream
	known  map[File]known // results of the last successful call

	mu    sync.Mutex                 // held to write rules, and to read it outside of Render
	rules map[string]unpackedVersion // by path of the link
}

// known is the cached state of an output.
type known struct {
	result Result
	info   fs.FileInfo // of the output file, to detect changes by others
}

// New returns a renderer without cached state.
func New(o Options) *Renderer {
	if o.MaxSize == 0 {
		o.MaxSize = defaultMaxSize
	}
	return &Renderer{
		opts:   o,
		stream: stream{expander: o.Expander, maxSize: o.MaxSize, room: budget{max: o.Budget}},
		known:  map[File]known{},
		rules:  map[string]unpackedVersion{},
	}
}

// Render updates all outputs. The results are in the order of the files, followed by the folders'
// entries by name.
//
// Errors name the input or output. An output that could not be replaced is unchanged, or missing
// until the next call if its input was replaced while there was no room for both. After the end of ctx
// it reads no further, unless an output is missing.
func (r *Renderer) Render(ctx context.Context) ([]Result, error) {
	r.stream.ctx = ctx
	files, err := r.files()
	if err != nil {
		return nil, err
	}
	if err := r.measure(files); err != nil {
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
			j.discard()
			return nil, err
		}
		jobs = append(jobs, j)
	}
	if err := r.replaceInPlace(files, jobs); err != nil {
		return nil, err
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

// files returns the current inputs and outputs.
func (r *Renderer) files() ([]File, error) {
	files := append([]File(nil), r.opts.Files...)
	for _, d := range r.opts.Dirs {
		names, err := volume.ReadNames(r.stream.ctx, d.Input)
		if err != nil {
			return nil, fmt.Errorf("read config folder: %w", err)
		}
		for _, name := range names {
			path := filepath.Join(d.Input, name)
			info, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("read config folder: %w", err)
			}
			if info.Mode().IsRegular() {
				files = append(files, File{path, filepath.Join(d.Output, name)})
			}
			if len(files) > maxFiles {
				return nil, fmt.Errorf("read config folder: more than %d files in all folders, up to %s", maxFiles, d.Input)
			}
		}
	}
	return files, nil
}

// job is a file during Render.
type job struct {
	file   File
	result Result
	temp   string  // staged output; empty if nothing has to be replaced
	rules  archive // of an input that may have a list

	stream parts.Stream // the files of the input; nil if it is a single file
	bytes  int64        // of the output in an in-memory volume
	absent bool         // not written, because it does not fit next to the existing files
}

func (j job) discard() {
	if j.temp != "" {
		os.Remove(j.temp)
	}
	j.rules.discard()
}

// prepare renders f next to its output, unless the output is already up to date. After an error the
// job may still need discard.
func (r *Renderer) prepare(f File) (job, error) {
	if f.Output != "" && slices.Contains(r.opts.Files, f) {
		l, inParts, err := list(r.stream.ctx, f.Input)
		if err != nil {
			return job{file: f}, fmt.Errorf("read config: %w", err)
		}
		if inParts {
			return r.prepareParts(f, l)
		}
		j, err := r.prepareFile(f, nil)
		if err != nil {
			if _, now, _ := list(r.stream.ctx, f.Input); now {
				err = &MixedError{Files: []string{filepath.Base(f.Input) + " (replaced)"}}
			}
		}
		j.rules.link = filepath.Join(filepath.Dir(f.Output), RulesDir)
		return j, err
	}
	return r.prepareFile(f, nil)
}

// prepareParts is like prepare for a configuration in parts. It does not reread parts that were
// already rendered.
func (r *Renderer) prepareParts(f File, l parts.List) (job, error) {
	dir := partsDir(f.Input)
	var check []parts.Stream
	if k, ok := r.known[f]; !ok || k.result.InputSHA256 != l.Config.Sum() {
		check = append(check, l.Config)
	}
	if was, ok := r.rules[filepath.Join(filepath.Dir(f.Output), RulesDir)]; !ok || was.sum != l.Rules.Sum() {
		check = append(check, l.Rules)
	}
	if err := r.stream.verify(dir, check...); err != nil {
		return job{file: f}, err
	}
	j, err := r.prepareFile(f, l.Config)
	if err == nil {
		j.rules, err = r.prepareRules(f, l)
	}
	if err != nil {
		if now := r.stream.verify(dir, l.Config, l.Rules); now != nil {
			err = now // replaced in the meantime, which is the cause
		}
		return j, err
	}
	j.result.Rules = nil
	if len(l.Rules) > 0 {
		j.result.Rules = &j.rules.now.dir
	}
	return j, nil
}

// prepareFile renders the input, or the files of the stream if it is not nil.
func (r *Renderer) prepareFile(f File, stream parts.Stream) (job, error) {
	j := job{file: f, stream: stream}
	sum := stream.Sum()
	var err error
	if stream == nil {
		if sum, err = r.stream.hash(f.Input); err != nil {
			return j, fmt.Errorf("read config: %w", err)
		}
	}
	if f.Output == "" {
		j.result = Result{Input: f.Input, InputSHA256: sum}
		return j, nil
	}
	k, ok := r.known[f]
	untouched := ok && sameFile(k.info, f.Output)
	if untouched && k.result.InputSHA256 == sum {
		j.result, j.bytes = k.result, footprint.InMemoryVolume(k.info.Size())
		j.result.Written, j.result.Rules = false, nil
		return j, nil
	}
	j.temp = temporary(f.Output)
	var size int64
	if j.result, size, err = r.stream.stage(f, stream, j.temp); err != nil {
		j.discard()
		return j, err
	}
	if size < 0 {
		j.temp, j.absent, size = "", true, -size-1
	}
	j.bytes = footprint.InMemoryVolume(size)
	current := ""
	if untouched {
		current = k.result.OutputSHA256
	} else if current, err = r.stream.hash(f.Output); err != nil {
		current = "" // unreadable: replaced like any other old content
	}
	if err := r.stream.ctx.Err(); err != nil {
		return j, err // it may not have been read
	}
	if current == j.result.OutputSHA256 && readable(f.Output) {
		j.discard()
		j.temp, j.absent = "", false
	}
	return j, nil
}

// publish renames the staged output and stores its state. Rules are linked before a configuration
// that uses them, and removed after one that does not.
func (r *Renderer) publish(j *job) error {
	if j.file.Output == "" {
		return nil
	}
	if err := j.rules.publish(); err != nil {
		return err
	}
	if j.rules.version != "" {
		r.keepRules(j.rules)
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
	if j.rules.link != "" && j.rules.version == "" {
		r.keepRules(j.rules)
		return j.rules.remove()
	}
	return nil
}

// keepRules stores which rules the link refers to, or that there are none.
func (r *Renderer) keepRules(a archive) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.version == "" {
		delete(r.rules, a.link)
		return
	}
	r.rules[a.link] = a.now
}

// removeVanished deletes the outputs of folder entries that were removed since the last call.
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
			return fmt.Errorf("remove the output of a deleted input: %w", err)
		}
		delete(r.known, f)
	}
	return nil
}
