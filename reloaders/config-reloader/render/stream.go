package render

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

const (
	outputMode = 0o644
	copySize   = 32 << 10
)

// gzipMagic is the start of a gzip stream with the deflate method. The content decides, not the file
// name.
var gzipMagic = []byte{0x1f, 0x8b, 8}

// stream renders an input in constant memory. Its buffers are reused.
type stream struct {
	ctx      context.Context //nolint:containedctx // of the current call of Render
	expander *expand.Expander
	maxSize  int64
	room     budget

	raw      *bufio.Reader
	inflated *gzip.Reader
	out      *bufio.Writer
	copyBuf  []byte
}

// hash returns the SHA-256 of a file in hex.
func (s *stream) hash(path string) (string, error) {
	f, err := volume.Open(s.ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if s.copyBuf == nil {
		s.copyBuf = make([]byte, copySize)
	}
	sum := sha256.New()
	// The wrapper keeps CopyBuffer from bypassing the buffer.
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, f, s.copyBuf); err != nil {
		return "", err
	}
	return sumHex(sum), nil
}

func sumHex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// stage writes the rendered input to temp: the file, or all files of the stream if there is one. size is
// the size of the output; it is negative if there was no room for it and temp does not exist. After an
// error temp may exist and is incomplete.
func (s *stream) stage(f File, files parts.Stream, temp string) (res Result, size int64, err error) {
	res = Result{Input: f.Input, Output: f.Output}
	var in io.ReadCloser = &joinedReader{ctx: s.ctx, dir: partsDir(f.Input), rest: files}
	if files == nil {
		if in, err = volume.Open(s.ctx, f.Input); err != nil {
			return res, 0, fmt.Errorf("read config: %w", err)
		}
	}
	defer in.Close()
	out, err := create(temp)
	if err != nil {
		return res, 0, fmt.Errorf("write output: %w", err)
	}
	defer out.Close()
	to := &stagedOutput{file: out, room: &s.room}

	rawSum, outSum := sha256.New(), sha256.New()
	content, err := s.open(io.TeeReader(in, rawSum))
	if err != nil {
		return res, 0, fmt.Errorf("gunzip %s: %w", f.Input, err)
	}
	w := &limitedWriter{w: io.MultiWriter(outSum, to), max: s.maxSize, left: s.maxSize}
	if s.out == nil {
		s.out = bufio.NewWriterSize(nil, copySize)
	}
	s.out.Reset(w)
	if res.Unset, err = s.expander.Expand(s.out, content); err == nil {
		err = s.out.Flush()
	}
	if err == nil {
		err = to.close()
	}
	if err != nil {
		return res, 0, s.explain(f, err)
	}
	res.InputSHA256, res.OutputSHA256 = sumHex(rawSum), sumHex(outSum)
	if files != nil {
		res.InputSHA256 = files.Sum()
	}
	if size = to.size; to.dropped {
		size = -size - 1 // negative for an empty output, too
	}
	return res, size, nil
}

// open returns the content of raw, decompressed if it is gzip. Several gzip members are concatenated.
func (s *stream) open(raw io.Reader) (io.Reader, error) {
	if s.raw == nil {
		s.raw = bufio.NewReaderSize(nil, copySize)
	}
	s.raw.Reset(raw)
	start, err := s.raw.Peek(len(gzipMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(start, gzipMagic) {
		return s.raw, nil
	}
	if s.inflated == nil {
		s.inflated, err = gzip.NewReader(s.raw)
	} else {
		err = s.inflated.Reset(s.raw)
	}
	return &inflating{s.inflated}, err
}

// create creates a world-readable file, independent of the umask. It replaces an existing one.
func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, outputMode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(outputMode); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
