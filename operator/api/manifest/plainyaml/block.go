package plainyaml

import "bytes"

// block converts the mapping or list that begins at the current position, in a column. It ends at the beginning of the
// content after it.
func (c *converter) block(column int) bool {
	if c.depth++; c.depth > maxDepth {
		return false
	}
	defer func() { c.depth-- }()
	if c.dash() {
		return c.list(column)
	}
	return c.mapping(column)
}

// dash reports whether the next item of a list begins at the current position.
func (c *converter) dash() bool { return c.peek(0) == '-' && c.peek(1) == ' ' }

func (c *converter) mapping(column int) bool {
	first := c.open()
	for {
		key := c.plainKey()
		if key == nil {
			return false
		}
		c.at += len(key) + 1
		c.member(key, first)
		if !c.valueOf(column) {
			return false
		}
		if c.col < column {
			return c.close(first)
		}
	}
}

// valueOf converts the value of a key of a mapping in a column.
func (c *converter) valueOf(column int) bool {
	if !c.lineEnds() {
		c.spaces()
		return c.inline(column)
	}
	if !c.next() {
		return false
	}
	if c.col > column || c.col == column && c.dash() {
		return c.block(c.col) && c.col <= column
	}
	c.out = append(c.out, "null"...)
	return true
}

// inline converts a value that begins on the line of its key or dash, which is in a column, and moves to the
// content after it.
func (c *converter) inline(column int) bool {
	if c.peek(0) == '|' {
		return c.literal(column)
	}
	return c.value(blockStyle) && c.lineEnds() && c.next() && c.col <= column
}

func (c *converter) list(column int) bool {
	c.out = append(c.out, '[')
	for n := 0; ; n++ {
		if n > 0 {
			c.out = append(c.out, ',')
		}
		start := c.at
		c.at++ // the dash
		c.spaces()
		switch inner := column + c.at - start; {
		case c.peek(0) == '\n' || c.peek(0) == '#':
			return false
		case c.dash() || c.plainKey() != nil:
			if !c.block(inner) || c.col > column {
				return false
			}
		case !c.inline(column):
			return false
		}
		if c.col < column || !c.dash() {
			c.out = append(c.out, ']')
			return true
		}
	}
}

// literal converts a text in lines after |.
func (c *converter) literal(column int) bool {
	c.at++
	strip := c.peek(0) == '-'
	if strip {
		c.at++
	}
	if c.peek(0) != '\n' {
		return false
	}
	c.skipLine()
	rest := c.in[c.at:]
	indent := len(rest) - len(bytes.TrimLeft(rest, " "))
	if indent <= column || indent == len(rest) || rest[indent] == '\n' {
		return false
	}
	c.scratch = c.scratch[:0]
	text := 0 // length without the empty lines at the end
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return false // whether a line break ends the text depends on it
		}
		line := rest[:end]
		blank := len(bytes.TrimLeft(line, " ")) == 0
		if blank && end > 0 {
			return false
		}
		if !blank && len(line)-len(bytes.TrimLeft(line, " ")) < indent {
			break
		}
		if !blank {
			c.scratch = append(c.scratch, line[indent:]...)
			text = len(c.scratch) + 1
		}
		c.scratch = append(c.scratch, '\n')
		c.at, rest = c.at+end+1, rest[end+1:]
	}
	if strip {
		text--
	}
	c.text(c.scratch[:text])
	return c.next() && c.col <= column
}
