// Package jsonstream reads large JSON texts value by value, with limits for the whole text and for the part of it in memory. The sender may be hostile.
//
//	in := jsonstream.New(body, jsonstream.Limits{Text: 64 << 20, Value: 4 << 10})
//	err := in.Object(func(key string) error {
//		if key != "items" {
//			return in.Skip()
//		}
//		return in.Array(func() error { return in.Decode(&one) })
//	})
package jsonstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits bound a text, in bytes.
type Limits struct {
	Text int64
	// Value is the maximum size of a key and of a value that is decoded or skipped as a whole, to within chunk.
	Value int64
}

// chunk is the maximum size of a read. For a value that is larger, a read doubles the number of bytes, because the
// decoder rescans all white space before a value after each read.
const chunk = 4 << 10

// ErrTooLarge is returned for what exceeds the limits.
var ErrTooLarge = errors.New("it is too large")

// Reader reads a text. It is not safe for concurrent use.
type Reader struct {
	in  limitedReader
	dec *json.Decoder
}

// New returns a reader of one text, or of several after each other.
func New(from io.Reader, limits Limits) *Reader {
	r := &Reader{in: limitedReader{from: from, left: limits.Text, max: limits.Value}}
	r.dec = json.NewDecoder(&r.in)
	return r
}

// Object reads an object. value is called after each key, and reads its value. null counts as an empty object.
//
// Errors: those of value and of the connection; another form; [ErrTooLarge]; io.EOF at the end of the text.
func (r *Reader) Object(value func(key string) error) error {
	return r.delimited('{', '}', func() error {
		t, err := r.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // keys are strings
		return value(key)
	})
}

// Array reads an array. value is called before each value, and reads it. null counts as an empty array. It returns the
// same errors as Object.
func (r *Reader) Array(value func() error) error { return r.delimited('[', ']', value) }

// Decode reads a value like json.Unmarshal. It returns the same errors as Object.
func (r *Reader) Decode(v any) error {
	r.in.value = 0
	return r.dec.Decode(v)
}

// Skip reads a value without decoding it. It returns the same errors as Object.
func (r *Reader) Skip() error {
	var ignored json.RawMessage
	return r.Decode(&ignored)
}

func (r *Reader) delimited(first, last json.Delim, value func() error) error {
	if null, err := r.delimiter(first); null || err != nil {
		return err
	}
	for r.more() {
		if err := value(); err != nil {
			return unexpected(err)
		}
	}
	_, err := r.delimiter(last)
	return unexpected(err)
}

// unexpected returns the error for an error within an object or array.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *Reader) more() bool {
	r.in.value = 0
	return r.dec.More()
}

func (r *Reader) token() (json.Token, error) {
	r.in.value = 0
	return r.dec.Token()
}

// delimiter reads a delimiter or, where an object or array begins, null.
func (r *Reader) delimiter(want json.Delim) (null bool, err error) {
	t, err := r.token()
	if err == nil && t != nil && t != want {
		err = fmt.Errorf("it has %.40q where %q is expected", fmt.Sprint(t), want.String())
	}
	return t == nil, err
}

// limitedReader limits the bytes that are read in total, and for one value.
type limitedReader struct {
	from      io.Reader
	left, max int64
	value     int64 // read for this value
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 || l.value > l.max {
		return 0, ErrTooLarge
	}
	most := min(max(chunk, l.value), max(chunk, l.max-l.value))
	n, err := l.from.Read(p[:min(int64(len(p)), most)])
	l.left -= int64(n)
	l.value += int64(n)
	return n, err
}
