package commands

import (
	"fmt"
	"io"
)

// harmless is a writer that escapes control characters for a terminal, because manifests and
// API servers can contain names and expressions with them. They are written as \x1b. Newlines,
// also with a carriage return, and tabs are kept, and so is U+0085, which is valid in YAML.
type harmless struct{ w io.Writer }

// Write implements [io.Writer].
func (h harmless) Write(p []byte) (int, error) {
	start := 0
	for i := 0; i < len(p); i++ {
		n := control(p[i:])
		if n == 0 {
			continue
		}
		if _, err := h.w.Write(p[start:i]); err != nil {
			return start, err
		}
		if _, err := fmt.Fprintf(h.w, "\\x%02x", p[i+n-1]); err != nil {
			return i, err
		}
		i += n - 1
		start = i + 1
	}
	if _, err := h.w.Write(p[start:]); err != nil {
		return start, err
	}
	return len(p), nil
}

// control returns the length in bytes of the control character at the start of p, or 0 if there
// is none.
func control(p []byte) int {
	switch c := p[0]; {
	case c == '\n', c == '\t', c == '\r' && len(p) > 1 && p[1] == '\n': // another \r would show the line with another beginning
	case c < ' ', c == 0x7f:
		return 1
	case c == 0xc2 && len(p) > 1 && p[1] >= 0x80 && p[1] < 0xa0 && p[1] != 0x85:
		return 2
	}
	return 0
}
