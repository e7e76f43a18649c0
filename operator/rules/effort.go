package rules

import "fmt"

// maxEffort bounds how long one object can keep a worker busy: about a second.
// Checking types and printing both cost, in Prometheus' parser, depth of the tree
// times length of the text; a sum of 200,000 numbers, which fits into an object,
// takes minutes. An expression of a thousand tokens in 10 kB, far beyond what
// people write, is a hundredth of this.
const maxEffort = 1 << 30

// affordable adds the effort of an expression to what the object has cost so
// far, unless the object would cost too much. Tokens stand for the depth.
func affordable(text string, spent *int) error {
	n := tokens(text)
	cost := n * len(text)
	if *spent+cost > maxEffort {
		return fmt.Errorf("too much to check for one object: %d words and operators in %d bytes; use several expressions or objects", n, len(text))
	}
	*spent += cost
	return nil
}

// tokens counts words and operators of an expression outside strings and
// comments. It may count too many, never too few.
func tokens(text string) int {
	n := 0
	var quote byte // the kind of string, or '#' for a comment
	word := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '#':
			if c == '\n' {
				quote = 0
			}
			continue
		case quote != 0:
			switch {
			case c == '\\' && quote != '`':
				i++
			case c == quote, c == '\n' && quote != '`': // a line's end is an error there
				quote = 0
			}
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r':
			word = false
		case '"', '\'', '`', '#':
			quote, word = c, false
			n++
		case '+', '-', '*', '/', '%', '^', '=', '!', '<', '>', '(', ')', '[', ']', '{', '}', ',', ':', '@', '~':
			word = false
			n++
		default:
			if !word {
				n++
			}
			word = true
		}
	}
	return n
}
