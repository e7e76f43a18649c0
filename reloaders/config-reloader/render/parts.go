package render

import (
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

// MixedError means that the files of a configuration in parts are not those its
// list names: some were refreshed and others not yet. Look again soon.
type MixedError struct {
	// Files are the names with what is wrong: "config-2.gz (missing)".
	Files []string
}

func (e *MixedError) Error() string {
	return "the configuration is being updated, its parts do not belong together yet: " + strings.Join(e.Files, ", ")
}

// Temporary is true: the kubelet brings the rest.
func (e *MixedError) Temporary() bool { return true }

// partsDir is the folder of the parts of an input. In a mounted volume that is the
// folder behind the visible one: in the middle of an update the visible one lacks
// the links of new files, and the list is one of them.
func partsDir(input string) string {
	dir := filepath.Dir(input)
	if volume.Mounted(dir) {
		return filepath.Join(dir, volume.DataLink)
	}
	return dir
}

// list reads the list beside an input; ok is false when there is none, and the
// input is complete.
func list(input string) (l parts.List, ok bool, err error) {
	f, err := os.Open(filepath.Join(partsDir(input), parts.ListName))
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

// verify reads all files of the streams.
//
// Errors: MixedError; what keeps a file from being read.
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

// joined reads the files of a stream as one and makes sure that they are what the
// list says: a file that was replaced since it was verified is an error.
type joined struct {
	dir  string
	rest parts.Stream
	file *os.File
	sum  hash.Hash
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.file == nil {
			if len(j.rest) == 0 {
				return 0, io.EOF
			}
			f, err := os.Open(filepath.Join(j.dir, j.rest[0].Name))
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

func (j *joined) next() error {
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

// Close is safe at any time.
func (j *joined) Close() error {
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.Close()
}
