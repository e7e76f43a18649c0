package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
)

// budget limits the size of the outputs in an in-memory volume, counted with
// [footprint.InMemoryVolume]. An output that does not fit next to the existing ones is
// rendered twice: once to validate it, and again after the old output was removed.
type budget struct {
	max  int64 // 0 means no limit
	left int64
}

// take reserves n bytes and reports whether there was room for them.
func (b *budget) take(n int64) bool {
	if b.max == 0 {
		return true
	}
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) { b.left += n }

// check returns an error if n bytes do not fit even without other outputs.
func (b *budget) check(n int64) error {
	if b.max == 0 || n <= b.max {
		return nil
	}
	return sizeError{fmt.Errorf("the configuration, with its rules, takes more than the %.1f MiB that the memory limit of this container leaves for a volume in memory: "+
		"raise the limit (--config-reloader-memory-limit of the operator)", float64(b.max)/(1<<20))}
}

// stagedOutput is an output that is written to a temporary file. If it does not fit, it is only
// counted.
type stagedOutput struct {
	file    *os.File
	room    *budget
	size    int64
	taken   int64 // reserved in room
	dropped bool
}

func (w *stagedOutput) Write(p []byte) (int, error) {
	w.size += int64(len(p))
	if err := w.room.check(footprint.InMemoryVolume(w.size)); err != nil {
		return 0, err
	}
	if w.dropped {
		return len(p), nil
	}
	if more := footprint.InMemoryVolume(w.size) - w.taken; more > 0 {
		if !w.room.take(more) {
			return len(p), w.drop()
		}
		w.taken += more
	}
	n, err := w.file.Write(p)
	if err != nil {
		err = writeError{err}
	}
	return n, err
}

func (w *stagedOutput) drop() error {
	w.dropped = true
	w.room.give(w.taken)
	w.taken = 0
	if err := os.Remove(w.file.Name()); err != nil {
		return writeError{err}
	}
	return w.closeFile()
}

func (w *stagedOutput) close() error {
	if w.dropped {
		return nil
	}
	return w.closeFile()
}

// closeFile closes the file, which fails on some network file systems if the disk is full.
func (w *stagedOutput) closeFile() error {
	if err := w.file.Close(); err != nil {
		return writeError{err}
	}
	return nil
}

// measure determines how much room is left. It removes unfinished outputs of an earlier
// run, and old versions of rules if their room may be needed.
func (r *Renderer) measure(files []File) error {
	room := &r.stream.room
	if room.max == 0 {
		return nil
	}
	used, err := occupied(files)
	if err != nil {
		return err
	}
	if used > room.max/2 {
		for dir := range outputDirs(files) {
			a := archive{link: filepath.Join(dir, RulesDir)}
			if err := a.sweep(a.linked()); err != nil {
				return fmt.Errorf("remove old rules: %w", err)
			}
		}
		if used, err = occupied(files); err != nil {
			return err
		}
	}
	room.left = room.max - used
	return nil
}

// occupied returns the size of the outputs in the volume. It removes staged outputs.
func occupied(files []File) (int64, error) {
	var used int64
	for _, f := range files {
		if f.Output == "" {
			continue
		}
		if err := os.Remove(temporary(f.Output)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("write output: %w", err)
		}
		if info, err := os.Stat(f.Output); err == nil {
			used += footprint.InMemoryVolume(info.Size())
		}
	}
	for dir := range outputDirs(files) {
		n, err := rulesBytes(dir)
		if err != nil {
			return 0, fmt.Errorf("write output: %w", err)
		}
		used += n
	}
	return used, nil
}

// rulesBytes returns the size of all versions of unpacked rules in a folder, which may not exist.
func rulesBytes(dir string) (used int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), versionPrefix) {
			continue
		}
		n, err := folderBytes(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		used += n
	}
	return used, nil
}

func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += footprint.InMemoryVolume(info.Size())
		}
		return err
	})
	return n, err
}

func outputDirs(files []File) map[string]bool {
	dirs := map[string]bool{}
	for _, f := range files {
		if f.Output != "" {
			dirs[filepath.Dir(f.Output)] = true
		}
	}
	return dirs
}

// replaceInPlace handles outputs that do not fit next to the existing ones: it removes the
// outputs that they replace, and renders them again. All of them have been validated. A
// server that starts in the meantime finds no configuration and is restarted; none finds a
// partial one.
//
// Errors: all outputs together do not fit; an input was replaced in the meantime, which is
// a MixedError.
func (r *Renderer) replaceInPlace(files []File, jobs []job) error {
	if r.stream.room.max == 0 || !anyAbsent(jobs) {
		return nil
	}
	var need int64
	for _, j := range jobs {
		need += j.bytes + j.rules.bytes
	}
	if err := r.stream.room.check(need); err != nil {
		return err
	}
	r.stream.ctx = context.WithoutCancel(r.stream.ctx) // a server that starts needs the outputs
	for i := range jobs {
		jobs[i].discard()
		if err := jobs[i].removeOld(); err != nil {
			return fmt.Errorf("replace output: %w", err)
		}
	}
	if err := r.measure(files); err != nil {
		return err
	}
	for i := range jobs {
		if err := r.renderAgain(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func anyAbsent(jobs []job) bool {
	for _, j := range jobs {
		if j.absent || j.rules.absent {
			return true
		}
	}
	return false
}

// removeOld removes the old outputs of the job, first the configuration: without it no
// server starts, so none runs without its rules.
func (j *job) removeOld() error {
	rules := j.rules.fresh || j.rules.link != "" && j.rules.version == ""
	if j.temp == "" && !j.absent && !j.rules.fresh {
		return nil
	}
	if err := os.Remove(j.file.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	j.absent = true // even if only the rules change
	if !rules {
		return nil
	}
	target := j.rules.linked()
	if target == "" {
		return j.rules.sweep("")
	}
	if err := os.Remove(j.rules.link); err != nil {
		return err
	}
	return j.rules.sweep("")
}

// renderAgain renders the outputs for which removeOld has made room.
func (r *Renderer) renderAgain(j *job) error {
	if !j.absent {
		return nil
	}
	replaced := &MixedError{Files: []string{filepath.Base(j.file.Input) + " (replaced)"}}
	j.temp = temporary(j.file.Output)
	want := j.result
	res, size, err := r.stream.stage(j.file, j.stream, j.temp)
	switch {
	case err != nil:
		return err
	case res.OutputSHA256 != want.OutputSHA256 || size < 0:
		return replaced
	}
	j.absent = false
	if !j.rules.fresh {
		return nil
	}
	sum, _, kept, err := r.stream.unpack(j.rules.files, partsDir(j.file.Input), j.rules.dir())
	switch {
	case err != nil:
		return err
	case sum.SHA256 != j.rules.now.dir.SHA256 || !kept:
		return replaced
	}
	j.rules.absent = false
	return nil
}
