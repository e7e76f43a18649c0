package plainyaml

import (
	"bytes"
	"strconv"

	"sigs.k8s.io/yaml"
)

// words are the plain scalars of YAML 1.1 that are no strings, with their JSON.
var words = func() map[string]string {
	out := map[string]string{}
	for value, spellings := range map[string][]string{
		"true":  {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"},
		"false": {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"},
		"null":  {"null", "Null", "NULL"},
	} {
		for _, s := range spellings {
			out[s] = value
		}
	}
	return out
}()

// style is the YAML style in which a value is written.
type style bool

const (
	blockStyle style = false
	flowStyle  style = true // inside brackets
)

// value converts a scalar, or a mapping or list in brackets.
func (c *converter) value(in style) bool {
	switch c.peek(0) {
	case '"':
		return c.doubleQuoted()
	case '\'':
		return c.singleQuoted()
	case '{', '[':
		return c.flow()
	}
	return c.plain(in)
}

// doubleQuoted converts a text in double quotes on one line, with the escapes that are common in JSON.
func (c *converter) doubleQuoted() bool {
	c.at++
	start := c.at
	var decoded []byte // up to start, if there are escapes
	escaped := false
	for ; c.at < len(c.in); c.at++ {
		switch c.in[c.at] {
		case '\n':
			return false
		case '"':
			text := c.in[start:c.at]
			if escaped {
				decoded = append(decoded, text...)
				c.scratch, text = decoded, decoded
			}
			c.text(text)
			c.at++
			return true
		case '\\':
			if !escaped {
				escaped, decoded = true, c.scratch[:0]
			}
			decoded = append(decoded, c.in[start:c.at]...)
			b, n := c.escape()
			if n == 0 {
				return false
			}
			decoded = append(decoded, b)
			c.at += n
			start = c.at + 1
		}
	}
	return false
}

// escape returns the character of the escape at the current position, and the number of bytes after the backslash; 0 for
// an unusual one.
func (c *converter) escape() (b byte, n int) {
	switch c.peek(1) {
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case '"', '\\':
		return c.peek(1), 1
	case 'u': // such as \u003c
		if c.at+6 > len(c.in) {
			return 0, 0
		}
		code, err := strconv.ParseUint(string(c.in[c.at+2:c.at+6]), 16, 16)
		if err != nil || code < ' ' || code > '~' {
			return 0, 0
		}
		return byte(code), 5
	}
	return 0, 0
}

// singleQuoted converts a text in single quotes on one line.
func (c *converter) singleQuoted() bool {
	c.at++
	end := bytes.IndexByte(c.in[c.at:], '\'')
	if end < 0 || bytes.IndexByte(c.in[c.at:c.at+end], '\n') >= 0 {
		return false
	}
	text := c.in[c.at : c.at+end]
	c.at += end + 1
	for c.peek(0) == '\'' { // a quote in the text is written twice
		c.scratch = append(append(c.scratch[:0], text...), '\'')
		c.at++
		end = bytes.IndexByte(c.in[c.at:], '\'')
		if end < 0 || bytes.IndexByte(c.in[c.at:c.at+end], '\n') >= 0 {
			return false
		}
		c.scratch = append(c.scratch, c.in[c.at:c.at+end]...)
		text = c.scratch
		c.at += end + 1
	}
	c.text(text)
	return true
}

// plain converts a scalar without quotes.
func (c *converter) plain(in style) bool {
	start := c.at
	if in == flowStyle && c.marker() {
		return false
	}
	switch b := c.peek(0); {
	case letter(b), digit(b), b >= 0x80, bytes.IndexByte([]byte("_/(^$.+\\"), b) >= 0:
	case b == '-' && c.peek(1) > ' ' && bytes.IndexByte([]byte(",[]{}"), c.peek(1)) < 0:
	default:
		return false
	}
	for ; c.at < len(c.in) && c.in[c.at] != '\n'; c.at++ {
		b := c.in[c.at]
		if b == '#' && c.in[c.at-1] == ' ' {
			break
		}
		if b == ':' && (c.peek(1) == ' ' || c.peek(1) == '\n') {
			return false
		}
		if in == blockStyle {
			continue
		}
		if b == ',' || b == ']' || b == '}' {
			break
		}
		if b == ':' && !letter(c.peek(1)) && !digit(c.peek(1)) && c.peek(1) != '/' || bytes.IndexByte([]byte("?[{#\"'"), b) >= 0 {
			return false
		}
	}
	return c.resolved(bytes.TrimRight(c.in[start:c.at], " "))
}

// resolved writes the value of a plain scalar.
func (c *converter) resolved(text []byte) bool {
	if value, special := words[string(text)]; special {
		c.out = append(c.out, value...)
		return true
	}
	switch b := text[0]; {
	case digit(b) && decimal(text):
		c.out = append(c.out, text...)
	case digit(b) && !mayBeNumber(text), !digit(b) && b != '+' && b != '-' && b != '.':
		c.text(text)
	default:
		if c.others++; c.others > maxResolved {
			return false
		}
		value, err := yaml.YAMLToJSONStrict(append([]byte{' '}, text...)) // the blank prevents a document marker
		if err != nil {
			return false
		}
		c.out = append(c.out, value...)
	}
	return true
}

// decimal reports whether a text is an integer in its usual form, which fits into 64 bits.
func decimal(text []byte) bool {
	for _, b := range text {
		if !digit(b) {
			return false
		}
	}
	return len(text) < 19 && (text[0] != '0' || len(text) == 1)
}

// mayBeNumber returns false if a text that begins with a digit has characters that no number has, such as 30s or
// 10.0.0.1.
func mayBeNumber(text []byte) bool {
	dots := 0
	for _, b := range text {
		switch {
		case b == '.':
			dots++
		case 'g' <= b && b <= 'w' && b != 'o', b == 'y', b == 'z', b == '/', b == ':', b == ' ':
			return false
		}
	}
	return dots < 2
}

const hexDigits = "0123456789abcdef"

// text writes a string as package encoding/json does.
func (c *converter) text(text []byte) {
	c.out = append(c.out, '"')
	from := 0
	for i, b := range text {
		if b >= ' ' && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&' {
			continue
		}
		c.out = append(c.out, text[from:i]...)
		from = i + 1
		switch b {
		case '"', '\\':
			c.out = append(c.out, '\\', b)
		case '\n':
			c.out = append(c.out, '\\', 'n')
		case '\r':
			c.out = append(c.out, '\\', 'r')
		case '\t':
			c.out = append(c.out, '\\', 't')
		default:
			c.out = append(c.out, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	c.out = append(append(c.out, text[from:]...), '"')
}
