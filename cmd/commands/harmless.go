package commands

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// harmless is a writer that escapes control characters for a terminal, because manifests and
// API servers can contain names and expressions with them. They are written as \x1b. Newlines,
// also with a carriage return, and tabs are kept, and so is U+0085, which is valid in YAML.
// Characters that change the direction of text are written as \u202e, as in JSON.
type harmless struct {
	w io.Writer
	// yaml keeps the direction of text, which is part of the values of YAML.
	yaml bool
}

// Write implements [io.Writer].
func (h harmless) Write(p []byte) (int, error) {
	start := 0
	for i := 0; i < len(p); {
		size, escaped := h.escape(p[i:])
		if size == 0 {
			i++
			continue
		}
		if _, err := h.w.Write(p[start:i]); err != nil {
			return start, err
		}
		if _, err := io.WriteString(h.w, escaped); err != nil {
			return i, err
		}
		i += size
		start = i
	}
	if _, err := h.w.Write(p[start:]); err != nil {
		return start, err
	}
	return len(p), nil
}

// escape returns the length in bytes of the character at the start of p and what replaces it; 0 if it is kept.
func (h harmless) escape(p []byte) (size int, escaped string) {
	switch n := control(p); {
	case n > 0:
		return n, fmt.Sprintf(`\x%02x`, p[n-1])
	case !h.yaml && turns(p):
		r, n := utf8.DecodeRune(p)
		return n, fmt.Sprintf(`\u%04x`, r)
	}
	return 0, ""
}

// turns reports whether p begins with a character that changes the direction of the following text: U+202A to U+202E,
// or U+2066 to U+2069.
func turns(p []byte) bool {
	return len(p) > 2 && p[0] == 0xe2 && (p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae || p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)
}

// control returns the length in bytes of the control character at the start of p, or 0 if there
// is none.
func control(p []byte) int {
	switch c := p[0]; {
	case c == '\n', c == '\t', c == '\r' && len(p) > 1 && p[1] == '\n': // another \r would let the terminal overwrite the beginning of the line
	case c < ' ', c == 0x7f:
		return 1
	case c == 0xc2 && len(p) > 1 && p[1] >= 0x80 && p[1] < 0xa0 && p[1] != 0x85:
		return 2
	}
	return 0
}
