package render

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// MixedError means that the files of a configuration in parts do not match its list: some
// were refreshed and others not yet. Retry soon.
type MixedError struct {
	// Files has the names, each with its problem: "config-2.gz (missing)".
	Files []string
}

func (e *MixedError) Error() string {
	return "the configuration is being updated, its parts do not belong together yet: " + strings.Join(e.Files, ", ")
}

// temporary returns true, because the kubelet completes the update.
func (e *MixedError) Temporary() bool { return true }

// partsDir returns the folder of the parts of an input. In a mounted volume it is the
// folder that ..data refers to: during an update the visible one lacks the links of new
// files, including the list.
func partsDir(input string) string {
	dir := filepath.Dir(input)
	if volume.Mounted(dir) {
		return filepath.Join(dir, volume.DataLink)
	}
	return dir
}

// list reads the list next to an input. ok is false if there is none, and the input is
// complete.
func list(ctx context.Context, input string) (l parts.List, ok bool, err error) {
	f, err := volume.Open(ctx, filepath.Join(partsDir(input), parts.ListName))
	if errors.Is(err, fs.ErrNotExist) {
		return l, false, nil
	}
	if err != nil {
		return l, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, parts.MaxList+1))
	if err != nil {
		return l, false, err
	}
	l, err = parts.Parse(text, filepath.Base(input))
	return l, err == nil, err
}

// verify reads all files of the streams and compares their checksums.
//
// Errors: [MixedError]; a file cannot be read.
func (s *stream) verify(dir string, streams ...parts.Stream) error {
	mixed := &MixedError{}
	for _, stream := range streams {
		for _, f := range stream {
			sum, err := s.hashPart(filepath.Join(dir, f.Name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				mixed.Files = append(mixed.Files, f.Name+" (missing)")
			case err != nil:
				return fmt.Errorf("read config: %w", err)
			case sum != f.SHA256:
				mixed.Files = append(mixed.Files, f.Name+" (another version)")
			}
		}
	}
	if len(mixed.Files) > 0 {
		return mixed
	}
	return nil
}

func (s *stream) hashPart(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > parts.MaxFile {
		return "", fmt.Errorf("%s has %d bytes, the limit is %d", path, info.Size(), parts.MaxFile)
	}
	return s.hash(path)
}

// joinedReader reads the files of a stream as one and compares them with the list: a file that
// was replaced after verify is an error.
type joinedReader struct {
	ctx  context.Context //nolint:containedctx // of the call of Render
	dir  string
	rest parts.Stream
	file io.ReadCloser
	sum  hash.Hash
}

func (j *joinedReader) Read(p []byte) (int, error) {
	for {
		if j.file == nil {
			if len(j.rest) == 0 {
				return 0, io.EOF
			}
			f, err := volume.Open(j.ctx, filepath.Join(j.dir, j.rest[0].Name))
			if err != nil {
				return 0, err
			}
			j.file, j.sum = f, sha256.New()
		}
		n, err := j.file.Read(p)
		j.sum.Write(p[:n])
		if err == io.EOF {
			err = j.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (j *joinedReader) next() error {
	want := j.rest[0]
	j.rest = j.rest[1:]
	sum := hex.EncodeToString(j.sum.Sum(nil))
	if err := j.Close(); err != nil {
		return err
	}
	if sum != want.SHA256 {
		return &MixedError{Files: []string{want.Name + " (replaced)"}}
	}
	return nil
}

// Close closes the current file, if any. It can be called repeatedly.
func (j *joinedReader) Close() error {
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.Close()
}
