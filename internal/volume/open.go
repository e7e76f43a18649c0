package volume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errNotRegular is the error for a path that is neither a file nor a folder.
var errNotRegular = errors.New("is a pipe, a socket or a device, want a regular file")

// Open opens a file for reading, which fails after the end of ctx: a large file takes long. Unlike [os.Open] it does not
// wait for the writer of a pipe.
//
// Errors: those of os.Open; a pipe, socket or device, which may have no end.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{ctx, f}, nil
}

// ReadFile reads a file of at most most bytes into memory.
//
// Errors: those of [Open] and of reading; a larger file.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d bytes", most)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// file is an open file. It has no other methods, so that [io.Copy] reads it in parts.
type file struct {
	ctx context.Context //nolint:containedctx // of the call that opened and closes it
	f   *os.File
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.f.Read(p)
}

// Close implements io.Closer.
func (f *file) Close() error { return f.f.Close() }
