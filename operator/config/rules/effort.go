package rules

import (
	"errors"
	"fmt"

	"github.com/prometheus/prometheus/util/strutil"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

var errRegexpCost = errors.New("too much to check for one object: its regular expressions compile to too much; " +
	"use fewer repetitions such as {100} and fewer character classes")

// effort is the cost of the expressions of an object.
type effort struct{ parsing, regexps int }

// affordable charges an expression, and returns an error if the object exceeds its
// budget. The number of tokens is an upper bound of the nesting depth.
func (e *effort) affordable(text string) error {
	regexps := 0
	n := tokens(text, func(literal string) { regexps += costOf(literal) })
	cost := n * len(text)
	if e.parsing+cost > budget.ExpressionEffort {
		return fmt.Errorf("too much to check for one object: %d words and operators in %d bytes; use several expressions or objects", n, len(text))
	}
	if e.regexps+regexps > budget.RuleRegexpCost {
		return errRegexpCost
	}
	e.parsing += cost
	e.regexps += regexps
	return nil
}

// costOf returns the cost of a quoted regular expression. An invalid one is left to
// Prometheus' parser, which rejects it without compiling it.
func costOf(literal string) int {
	text, err := strutil.Unquote(literal)
	if err != nil {
		return 0
	}
	return regexcost.OfText(text)
}

// tokens counts words and operators of an expression outside strings and comments. The
// result is an upper bound. Strings after =~ and !~ are passed to regexps, which may be nil.
func tokens(text string, regexps func(literal string)) int {
	n := 0
	var quote byte // kind of string, or '#' for a comment
	var begin int  // start of the string
	word := false
	matches := false // the last token was =~ or !~
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
			case c == quote, c == '\n' && quote != '`': // a newline ends it with an error
				if matches && regexps != nil {
					regexps(text[begin : i+1])
				}
				quote, matches = 0, false
			}
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r':
			word = false
		case '"', '\'', '`', '#':
			quote, begin, word = c, i, false
			n++
		case '+', '-', '*', '/', '%', '^', '=', '!', '<', '>', '(', ')', '[', ']', '{', '}', ',', ':', '@', '~':
			word, matches = false, c == '~'
			n++
		default:
			if !word {
				n++
			}
			word, matches = true, false
		}
	}
	return n
}
