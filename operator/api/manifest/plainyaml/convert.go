package plainyaml

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// ToJSON converts a YAML or JSON document. Keys are sorted.
//
// Errors: those of the YAML library; duplicate keys, unless one of them is merged.
func ToJSON(document []byte) ([]byte, error) {
	if out, ok := convert(document); ok {
		return out, nil
	}
	return strict(document)
}

const (
	// maxDepth is the maximum nesting of values that are converted here.
	maxDepth = 100
	// maxKey is the maximum length of a key in bytes. YAML libraries limit it, too.
	maxKey = 256
	// maxResolved is the maximum number of scalars that the library resolves one by one, which takes it longer than in
	// a whole document.
	maxResolved = 1000
)

// converter converts one document. Its methods return false when the document must be left to the library.
type converter struct {
	in  []byte
	at  int // index of the next byte
	out []byte

	depth   int
	others  int     // number of scalars that the library resolved
	col     int     // column of the line's content, see next
	members []entry // of the open mappings, outermost first
	scratch []byte
}

// entry is a member of a mapping in the output.
type entry struct {
	key        []byte
	start, end int // in out, without a comma
}

// convert returns the document as JSON; ok is false when it must be left to the library.
func convert(document []byte) (out []byte, ok bool) {
	if !printable(document) {
		return nil, false
	}
	c := &converter{in: document, out: make([]byte, 0, len(document)+len(document)/8)}
	if !c.next() && !c.begins() || c.at >= len(c.in) {
		return nil, false
	}
	if b := c.in[c.at]; b == '{' || b == '[' {
		if ok = c.flow() && c.lineEnds() && c.next(); !ok {
			return nil, false
		}
	} else if !c.block(c.col) {
		return nil, false
	}
	return c.out, c.at >= len(c.in)
}

// begins moves past the marker of the document's beginning.
func (c *converter) begins() bool {
	if !bytes.HasPrefix(c.in[c.at:], []byte("---")) {
		return false
	}
	c.at += len("---")
	return c.lineEnds() && c.next()
}

// printable reports whether a text has only characters that YAML and JSON allow everywhere and treat alike: no tabs, control
// characters, other line breaks and byte order marks.
func printable(text []byte) bool {
	for i := 0; i < len(text); {
		b := text[i]
		switch {
		case b < utf8.RuneSelf:
			if b < ' ' && b != '\n' || b == 0x7f {
				return false
			}
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError || r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
				return false
			}
			i += n
		}
	}
	return true
}

// next moves from the beginning of a line to the next content, past empty lines and comments, and sets col. At the end
// of the document, col is -1. It returns false at a document marker.
func (c *converter) next() bool {
	for c.at < len(c.in) {
		start := c.at
		for c.at < len(c.in) && c.in[c.at] == ' ' {
			c.at++
		}
		if c.at < len(c.in) && c.in[c.at] != '\n' && c.in[c.at] != '#' {
			c.col = c.at - start
			return !c.marker()
		}
		c.skipLine()
	}
	c.col = -1
	return true
}

// marker reports whether what may be a document marker begins at the current position. It ends a document also within
// brackets.
func (c *converter) marker() bool {
	rest := c.in[c.at:]
	return (c.at == 0 || c.in[c.at-1] == '\n') && (bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("...")))
}

func (c *converter) skipLine() {
	if end := bytes.IndexByte(c.in[c.at:], '\n'); end >= 0 {
		c.at += end + 1
	} else {
		c.at = len(c.in)
	}
}

func (c *converter) spaces() {
	for c.at < len(c.in) && c.in[c.at] == ' ' {
		c.at++
	}
}

// lineEnds moves to the next line if nothing but a comment follows on this one.
func (c *converter) lineEnds() bool {
	c.spaces()
	if next := c.peek(0); next != '\n' && (next != '#' || c.in[c.at-1] != ' ') {
		return false
	}
	c.skipLine()
	return true
}

// peek returns a byte after the next one, or a line break at the end of the document.
func (c *converter) peek(ahead int) byte {
	if c.at+ahead >= len(c.in) {
		return '\n'
	}
	return c.in[c.at+ahead]
}

// plainKey returns the plain key at the current position, or nil. A colon and a blank follow it.
func (c *converter) plainKey() []byte {
	rest := c.in[c.at:min(len(c.in), c.at+maxKey)]
	if len(rest) == 0 || !letter(rest[0]) && rest[0] != '_' {
		return nil
	}
	n := 1
	for n < len(rest) && (letter(rest[n]) || digit(rest[n]) || rest[n] == '_' || rest[n] == '.' || rest[n] == '/' || rest[n] == '-') {
		n++
	}
	if n == len(rest) || rest[n] != ':' || c.peek(n+1) != ' ' && c.peek(n+1) != '\n' {
		return nil
	}
	if _, special := words[string(rest[:n])]; special {
		return nil
	}
	return rest[:n]
}

// open begins a mapping and returns the index of its first member.
func (c *converter) open() int {
	c.out = append(c.out, '{')
	return len(c.members)
}

// member begins a member of a mapping. The value follows.
func (c *converter) member(key []byte, first int) {
	if len(c.members) > first {
		c.members[len(c.members)-1].end = len(c.out)
		c.out = append(c.out, ',')
	}
	c.members = append(c.members, entry{key: key, start: len(c.out)})
	c.text(key)
	c.out = append(c.out, ':')
}

// close ends a mapping and sorts its members. It returns false if two have the same key.
func (c *converter) close(first int) bool {
	all := c.members[first:]
	c.members = c.members[:first]
	if len(all) > 0 {
		all[len(all)-1].end = len(c.out)
	}
	byKey := func(a, b entry) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(all, byKey) {
		start := all[0].start
		slices.SortFunc(all, byKey)
		c.scratch = c.scratch[:0]
		for i, e := range all {
			if i > 0 {
				c.scratch = append(c.scratch, ',')
			}
			c.scratch = append(c.scratch, c.out[e.start:e.end]...)
		}
		copy(c.out[start:], c.scratch)
	}
	for i := 1; i < len(all); i++ {
		if bytes.Equal(all[i-1].key, all[i].key) {
			return false
		}
	}
	c.out = append(c.out, '}')
	return true
}

func letter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }

func digit(b byte) bool { return '0' <= b && b <= '9' }
