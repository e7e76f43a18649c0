package report

import (
	"errors"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	found := map[string]string{"a": "<b> & c"}
	text := func(b *strings.Builder) { b.WriteString("a is <b> & c\n") }
	for format, want := range map[string]string{
		"text": "a is <b> & c\n",
		"json": "{\n  \"a\": \"<b> & c\"\n}\n",
	} {
		var got strings.Builder
		if err := Write(&got, format, found, text); err != nil || got.String() != want {
			t.Errorf("%s: got %q, %v", format, got.String(), err)
		}
		if err := Write(closed{}, format, found, text); !errors.Is(err, errClosed) {
			t.Errorf("%s to a closed pipe: %v", format, err)
		}
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 targets", 1: "1 target", 2: "2 targets"} {
		if got := Count(n, "target"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
