package render

import (
	"errors"
	"fmt"
	"io"
)

// The three ends of the pipe wrap their errors, so that the message can name the file that
// caused it.
type (
	inflateError struct{ error }
	writeError   struct{ error }
	sizeError    struct{ error }
)

func (e inflateError) Unwrap() error { return e.error }
func (e writeError) Unwrap() error   { return e.error }

func (s *stream) explain(f File, err error) error {
	if e, ok := errors.AsType[sizeError](err); ok {
		return fmt.Errorf("%s: %w", f.Input, e)
	}
	if e, ok := errors.AsType[writeError](err); ok {
		return fmt.Errorf("write output: %w", e.error)
	}
	if e, ok := errors.AsType[inflateError](err); ok {
		return fmt.Errorf("gunzip %s: %w", f.Input, e.error)
	}
	return fmt.Errorf("expand %s: %w", f.Input, err)
}

type inflating struct{ r io.Reader }

func (i *inflating) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if err != nil && err != io.EOF {
		err = inflateError{err}
	}
	return n, err
}

func tooLarge(max int64) error {
	return sizeError{fmt.Errorf("the content is larger than %d bytes", max)}
}

// limitedWriter returns an error before it writes more than max bytes.
type limitedWriter struct {
	w         io.Writer
	max, left int64
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, tooLarge(l.max)
	}
	return l.w.Write(p)
}
