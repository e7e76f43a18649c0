package jsonstream

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// read returns the values of "items", as in the package comment.
func read(from io.Reader, limits Limits) (out []int, err error) {
	in := New(from, limits)
	return out, in.Object(func(key string) error {
		if key != "items" {
			return in.Skip()
		}
		return in.Array(func() error {
			var n int
			err := in.Decode(&n)
			out = append(out, n)
			return err
		})
	})
}

func TestRead(t *testing.T) {
	limits := Limits{Text: 1 << 20, Value: 16}
	for text, want := range map[string]string{
		`{"a":{"b":[1]},"items":[1,2],"c":null}`: "[1 2] <nil>",
		`{}`:                                     "[] <nil>",
		`null`:                                   "[] <nil>",
		`{"items":null}`:                         "[] <nil>",
		``:                                       "[] EOF",
		`{"items":[1`:                            "[1] unexpected EOF",
		`{"items":`:                              "[] unexpected EOF",
		`[]`:                                     `[] it has "[" where "{" is expected`,
		`{"items":{}}`:                           `[] it has "{" where "[" is expected`,
		`{"items":["a"]}`:                        "[0] json: cannot unmarshal string into Go value of type int",
		`{"items":[1}`:                           "[1] invalid character '}' after array element",
		`{"a":"` + long + `"}`:                   "[] it is too large",
		`{"` + long + `":1}`:                     "[] it is too large",
		`{"items":[` + many[1:]:                  "[] it is too large",
	} {
		got, err := read(strings.NewReader(text), limits)
		if text == `{"items":[`+many[1:] {
			got = nil
		}
		if s := fmt.Sprint(got, err); s != want {
			t.Errorf("%.60s: %s, want %s", text, s, want)
		}
	}
}

var (
	long = strings.Repeat("a", 3*chunk)
	many = strings.Repeat(",1", 1<<20)
)

// The memory does not grow with the text: at most one chunk per value is read ahead.
func TestReadsNoMoreThanNeeded(t *testing.T) {
	from := &counting{Reader: strings.NewReader(`{"a":"` + strings.Repeat("a", 1<<20))}
	_, err := read(from, Limits{Text: 1 << 30, Value: 100})
	if !errors.Is(err, ErrTooLarge) || from.n > 100+2*chunk {
		t.Errorf("%d bytes read, %v", from.n, err)
	}
}

// White space before a value is looked at again after each read, so that there must be few of them.
func TestWhiteSpaceIsReadInFewSteps(t *testing.T) {
	from := &counting{Reader: strings.NewReader(`{"items":[` + strings.Repeat(" ", 1<<20))}
	_, err := read(from, Limits{Text: 1 << 30, Value: 1 << 20})
	if !errors.Is(err, io.ErrUnexpectedEOF) || from.reads > 30 {
		t.Errorf("%d reads, %v", from.reads, err)
	}
}

type counting struct {
	io.Reader
	n, reads int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	c.reads++
	return n, err
}

// Several texts are read one after the other.
func TestSequence(t *testing.T) {
	in := New(strings.NewReader("{\"a\":1}\n{\"b\":2}\n"), Limits{Text: 100, Value: 100})
	var keys string
	for {
		err := in.Object(func(key string) error { keys += key; return in.Skip() })
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if keys != "ab" {
		t.Error(keys)
	}
}
