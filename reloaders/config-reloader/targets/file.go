package targets

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// keepSaved writes the list to the file after each change, until ctx ends.
func (c *Client) keepSaved(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			select {
			case <-c.changed: // since the last write
			default:
				return
			}
		case <-c.changed:
		}
		c.store()
		pause(ctx, saveInterval)
	}
}

// store writes the list to the file, unless the file has it.
func (c *Client) store() {
	c.storing.Lock()
	defer c.storing.Unlock()
	if c.list.isSaved() {
		return
	}
	err := c.list.save(c.opts.File)
	switch {
	case err != nil && !c.failing:
		c.opts.Logger.Warn("List of targets cannot be stored on disk, serving it from memory", "err", err)
	case err == nil && c.failing:
		c.opts.Logger.Info("List of targets stored on disk again", "file", c.opts.File)
	}
	if c.failing = err != nil; c.failing {
		c.metrics.errors.WithLabelValues(string(Disk)).Inc()
	}
}

// load reads the list from a file that save has written. It reports whether there is one.
//
// Errors: the file cannot be read, or is not a complete list within the limits. The list is unchanged
// then.
func (l *list) load(path string, limits Limits, pack *packer) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := volume.Open(context.Background(), path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	plain, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	in, to := newReader(plain, limits, pack), receiver{list: l, limits: limits}
	for {
		m, err := in.next()
		if err != nil {
			return false, fmt.Errorf("read %s: %w", path, err)
		}
		changed, _, err := to.take(m, info.ModTime())
		if changed {
			l.mu.Lock()
			l.saved = l.changes
			l.mu.Unlock()
		}
		if changed || err != nil {
			return err == nil, err
		}
	}
}

// save writes the list to a file, as a full list in the form of the stream, and replaces the file atomically. Only this
// user can read the file.
func (l *list) save(path string) (err error) {
	l.mu.RLock()
	version, jobs, changes := l.version, maps.Clone(l.jobs), l.changes
	l.mu.RUnlock()
	temp := path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // not through a link or a pipe that exists already
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the error of the write is returned
		}
	}()
	out := bufio.NewWriter(f)
	err = errors.Join(f.Chmod(0o600), writeList(out, version, jobs), out.Flush(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = changes
	return nil
}

// writeList writes gzip members: the lists of the jobs as they are, and between them the uncompressed framing of the
// stream.
func writeList(out io.Writer, version Version, jobs map[string]*job) error {
	frame, err := gzip.NewWriterLevel(out, gzip.NoCompression)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "{\"begin\":{\"version\":%q,\"full\":true,\"jobs\":%d}}\n", version.text, len(jobs))
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		text = fmt.Appendf(text, "{\"job\":%s,\"groups\":", quoted)
		if err := writeMember(frame, out, text); err != nil {
			return err
		}
		if _, err := out.Write(jobs[name].packed); err != nil {
			return err
		}
		text = append(text[:0], "}\n"...)
	}
	return writeMember(frame, out, fmt.Appendf(text, "{\"end\":{\"version\":%q}}\n", version.text))
}

func writeMember(w *gzip.Writer, out io.Writer, text []byte) error {
	w.Reset(out)
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}
