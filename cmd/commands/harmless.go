package commands

import (
	"fmt"
	"io"
)

// harmless is a writer to a terminal that control characters do not reach: manifests, and the
// API server, have names and expressions with such in them. They are written as \x1b. Line ends
// and tabs stay, and so does U+0085, which YAML may have.
type harmless struct{ w io.Writer }

// Write implements io.Writer.
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

// control is how many bytes the control character has that a text begins with; 0 for none.
func control(p []byte) int {
	switch c := p[0]; {
	case c == '\n', c == '\t', c == '\r':
	case c < ' ', c == 0x7f:
		return 1
	case c == 0xc2 && len(p) > 1 && p[1] >= 0x80 && p[1] < 0xa0 && p[1] != 0x85:
		return 2
	}
	return 0
}
