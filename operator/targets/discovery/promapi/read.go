package promapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
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

// reader reads JSON value by value. Memory is limited by the largest value.
type reader struct {
	*json.Decoder
	from *metered
}

func newReader(body io.Reader, allowance *Allowance) *reader {
	from := &metered{body: body, allowance: allowance}
	return &reader{json.NewDecoder(from), from}
}

// metered fails after the allowance, or after the bytes that a value may have.
type metered struct {
	body      io.Reader
	allowance *Allowance
	value     int64
}

// Read implements [io.Reader].
func (m *metered) Read(p []byte) (int, error) {
	switch {
	case m.allowance.left.Load() <= 0:
		return 0, errLarge
	case m.value <= 0:
		return 0, errValue
	}
	n, err := m.body.Read(p[:min(int64(len(p)), m.value)])
	m.value -= int64(n)
	m.allowance.left.Add(-int64(n))
	return n, err
}

// value decodes the next value, which may have some bytes.
func (r *reader) value(into any, most int64) error {
	r.from.value = most
	return r.Decode(into)
}

// expect reads a delimiter; ok is false for null in its place.
func (r *reader) expect(want json.Delim) (ok bool, err error) {
	r.from.value = maxValue
	got, err := r.Token()
	if err != nil || got == nil {
		return false, err
	}
	if got != want {
		return false, fmt.Errorf("%v instead of %v", got, want)
	}
	return true, nil
}

// in reads an object and calls read at the value of a key. Other values are skipped.
func (r *reader) in(key string, read func() error) error {
	if ok, err := r.expect('{'); !ok {
		return err
	}
	for r.more() {
		name, err := r.Token()
		if err != nil {
			return err
		}
		if name == key {
			err = read()
		} else {
			var skipped json.RawMessage
			err = r.value(&skipped, maxValue)
		}
		if err != nil {
			return err
		}
	}
	_, err := r.expect('}')
	return err
}

// all reads an array and calls read at each element.
func (r *reader) all(read func() error) error {
	if ok, err := r.expect('['); !ok {
		return err
	}
	for r.more() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := r.expect(']')
	return err
}

func (r *reader) more() bool {
	r.from.value = maxValue
	return r.More()
}
