package plainyaml

// flow converts a mapping or list in brackets, which may have any number of lines.
func (c *converter) flow() bool {
	if c.depth++; c.depth > maxDepth {
		return false
	}
	defer func() { c.depth-- }()
	if c.in[c.at] == '{' {
		return c.flowMapping()
	}
	return c.flowList()
}

func (c *converter) flowMapping() bool {
	first := c.open()
	c.at++
	c.blanks()
	for c.peek(0) != '}' || len(c.members) > first {
		key := c.flowKey()
		if key == nil {
			return false
		}
		c.member(key, first)
		c.blanks()
		if !c.value(flowStyle) {
			return false
		}
		last, ok := c.separator('}')
		if !ok {
			return false
		}
		if last {
			break
		}
	}
	c.at++
	return c.close(first)
}

func (c *converter) flowList() bool {
	c.out = append(c.out, '[')
	c.at++
	c.blanks()
	for n := 0; c.peek(0) != ']' || n > 0; n++ {
		if n > 0 {
			c.out = append(c.out, ',')
		}
		if !c.value(flowStyle) {
			return false
		}
		last, ok := c.separator(']')
		if !ok {
			return false
		}
		if last {
			break
		}
	}
	c.at++
	c.out = append(c.out, ']')
	return true
}

// separator moves past the comma after a value, or to the end of the collection, which is last then.
func (c *converter) separator(end byte) (last, ok bool) {
	c.blanks()
	if c.peek(0) == end {
		return true, true
	}
	if c.peek(0) != ',' {
		return false, false
	}
	c.at++
	c.blanks()
	return false, true
}

// blanks moves past spaces and line breaks.
func (c *converter) blanks() {
	for c.at < len(c.in) && (c.in[c.at] == ' ' || c.in[c.at] == '\n') {
		c.at++
	}
}

// flowKey moves past a key and its colon. It returns nil if it is unusual.
func (c *converter) flowKey() []byte {
	if c.peek(0) != '"' {
		key := c.plainKey()
		c.at += len(key) + 1
		return key
	}
	start := c.at + 1
	for end := start; end < len(c.in) && end < start+maxKey; end++ {
		switch c.in[end] {
		case '"':
			if c.at = end + 1; c.peek(0) != ':' || end == start {
				return nil
			}
			c.at++
			return c.in[start:end]
		case '\\', '\n', '<':
			return nil
		}
	}
	return nil
}
