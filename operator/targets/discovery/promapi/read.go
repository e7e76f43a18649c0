package promapi

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
)

// Allowance is the number of bytes that responses may have. It is safe for concurrent use.
type Allowance struct {
	most int64
	left atomic.Int64
}

// NewAllowance returns an allowance of some bytes.
func NewAllowance(bytes int64) *Allowance {
	a := &Allowance{most: bytes}
	a.left.Store(bytes)
	return a
}

var (
	errLarge = errors.New("too large")
	errValue = fmt.Errorf("a target or another value of its answer has more than %d MiB", maxValue>>20)
)

// meteredReader fails after the allowance.
type meteredReader struct {
	body      io.Reader
	allowance *Allowance
}

// Read implements [io.Reader].
func (m meteredReader) Read(p []byte) (int, error) {
	if m.allowance.left.Load() <= 0 {
		return 0, errLarge
	}
	n, err := m.body.Read(p)
	m.allowance.left.Add(-int64(n))
	return n, err
}

// in reads an object and calls read at the value of a key. Other values are skipped.
func in(r *jsonstream.Reader, key string, read func() error) error {
	return r.Object(func(name string) error {
		if name != key {
			return r.Skip()
		}
		return read()
	})
}
