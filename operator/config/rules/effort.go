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

// effort is what the expressions of an object have cost so far.
type effort struct{ parsing, regexps int }

// affordable adds an expression, unless the object would cost too much. Tokens stand
// for the depth.
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

// costOf is the cost of a regular expression in quotes. What cannot be read is left for
// Prometheus' parser to refuse, which compiles nothing then.
func costOf(literal string) int {
	text, err := strutil.Unquote(literal)
	if err != nil {
		return 0
	}
	return regexcost.OfText(text)
}

// tokens counts words and operators of an expression outside strings and
// comments. It may count too many, never too few. Strings after =~ and !~ are handed
// to regexps, which may be nil.
func tokens(text string, regexps func(literal string)) int {
	n := 0
	var quote byte // the kind of string, or '#' for a comment
	var begin int  // of the string
	word := false
	matches := false // the last token is the end of =~ or !~
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
