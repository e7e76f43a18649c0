package gate

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// reference begins a variable, $(NAME).
const reference = "$("

// escaped returns a text between double quotes, without references. Go's escapes are among those of YAML.
func escaped(s string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(s), reference, `\x24(`)
}

// text writes a string in its style.
func (e *encoder) text(s string, at place) {
	if e.full(len(s)) {
		return
	}
	switch {
	case e.literal != nil && strings.Contains(s, reference) && e.literal(s):
		e.flow(escaped(s), at)
		return
	case at.quoted:
		e.flow(strconv.QuoteToASCII(s), at)
		return
	}
	style := styleOf(s)
	if at.after == aDash && (style > quoted || len(s) > foldColumn/2 && strings.IndexByte(s, ' ') >= 0) {
		style = byLibrary // further lines are indented differently
	}
	switch style {
	case plain:
		if at.after == aKey {
			e.buf = append(e.buf, ' ')
		}
		e.folded(s, at)
		e.buf = append(e.buf, '\n')
	case quoted:
		if at.after == aKey {
			e.buf = append(e.buf, ' ')
		}
		e.buf = append(e.buf, '"')
		e.buf = append(e.buf, s...)
		e.buf = append(e.buf, '"', '\n')
	case single:
		e.buf = append(e.buf, " '"...)
		e.folded(s, at)
		e.buf = append(e.buf, "'\n"...)
	case literal:
		e.lines(s, at)
	default:
		e.library(s, at)
	}
}

// folded writes a text below a key. Within single quotes, single quotes are doubled. Like the library, it replaces single
// spaces after the last column of a line by line breaks.
func (e *encoder) folded(s string, at place) {
	quotes := e.buf[len(e.buf)-1] == '\''
	if !quotes && strings.IndexByte(s, ' ') < 0 {
		e.buf = append(e.buf, s...)
		return
	}
	line := e.line()
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ' ' && len(e.buf)-line > foldColumn && i > 0 && i < len(s)-1 && s[i-1] != ' ' && s[i+1] != ' ':
			e.buf = append(e.buf, '\n')
			line = len(e.buf)
			e.indent(at.indent + 2)
			continue
		case c == '\'' && quotes:
			e.buf = append(e.buf, c)
		}
		e.buf = append(e.buf, c)
	}
}

// line returns where the last line begins. Values that the library writes may end in other line breaks than '\n'.
func (e *encoder) line() int {
	at := bytes.LastIndexByte(e.buf, '\n') + 1
	for _, other := range [...]string{"\r", "\u0085", "\u2028", "\u2029"} {
		if i := bytes.LastIndex(e.buf[at:], []byte(other)); i >= 0 {
			at += i + len(other)
		}
	}
	return at
}

// lines writes a text below a key as a literal block.
func (e *encoder) lines(s string, at place) {
	if strings.HasSuffix(s, "\n") {
		e.buf = append(e.buf, " |\n"...)
		s = s[:len(s)-1]
	} else {
		e.buf = append(e.buf, " |-\n"...)
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" {
			e.indent(at.indent + 2)
			e.buf = append(e.buf, line...)
		}
		e.buf = append(e.buf, '\n')
	}
}

// library marshals v with the library at the same depth, below the same key, and keeps only
// the part of v. The result is therefore byte for byte that of the library, including
// line folding.
func (e *encoder) library(v any, at place) {
	var (
		wrapped any
		line    = e.buf[e.line():]
	)
	if at.after == aDash {
		wrapped = Node{{Key: "k", Value: []any{v}}}
		line = append(bytes.Repeat([]byte{' '}, at.indent), "- "...)
	} else {
		key := string(line[at.indent : len(line)-1])
		if key == `"<<"` {
			key = "same"
		}
		wrapped = Node{{Key: key, Value: v}}
	}
	text := e.nested(wrapped, at.indent/2)
	if at.after == aDash {
		text = text[bytes.IndexByte(text, '\n')+1:] // the line of the key
	}
	if len(text) < len(line) {
		e.fail(fmt.Errorf("cannot place the value"))
		return
	}
	e.buf = append(e.buf, text[len(line):]...)
}

// nested marshals v with the library inside depth maps and returns the lines of v.
func (e *encoder) nested(v any, depth int) []byte {
	for range depth {
		v = Node{{Key: "k", Value: v}}
	}
	text, err := marshal(v)
	if err != nil {
		e.fail(err)
		return nil
	}
	for range depth {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}

// marshal calls the library, which panics for unsupported values, and returns a panic as
// an error.
func marshal(v any) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return yaml.Marshal(v)
}
