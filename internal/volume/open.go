package volume

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errNotRegular is the error for a path that is neither a file nor a folder.
var errNotRegular = errors.New("is a pipe, a socket or a device, want a regular file")

// Open opens a file for reading. Unlike [os.Open] it does not wait for the writer of a pipe.
//
// Errors: those of os.Open; a pipe, socket or device, which may have no end.
func Open(path string) (*os.File, error) {
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
	return f, nil
}
