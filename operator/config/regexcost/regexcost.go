// Package regexcost bounds what the regular expressions of one object compile to. That is
// not bounded by their text: \pL{990} takes ten megabytes and a fifth of a second, here
// and in every pod that loads it, and an object has room for ten thousands of them.
//
//	var budget regexcost.Budget // of one object
//	parsed, err := syntax.Parse(text, syntax.Perl)
//	if err == nil {
//		err = budget.Add(parsed)
//	}
package regexcost

import (
	"errors"
	"regexp/syntax"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// ErrExceeded says that an object has no budget left.
var ErrExceeded = errors.New("the regular expressions of the object compile to too much: use fewer repetitions such as {100} and fewer character classes")

// Budget counts the expressions of one object. The zero value is that of an object
// without any; it is not safe for concurrent use.
type Budget struct{ spent int }

// Add counts an expression, also one that is too much.
//
// Errors: [ErrExceeded].
func (b *Budget) Add(parsed *syntax.Regexp) error {
	if b.spent += Of(parsed); b.spent > budget.RegexpCost {
		return ErrExceeded
	}
	return nil
}

// Of is about the number of instructions and of bounds of character ranges that an
// expression compiles to; one takes about ten nanoseconds and eight bytes.
func Of(re *syntax.Regexp) int {
	cost := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		cost += Of(sub)
	}
	if re.Op == syntax.OpRepeat { // is written out; the parser bounds how often
		cost *= max(re.Max, re.Min+1)
	}
	return cost
}

// OfText is [Of] an expression as it is written. What is none costs nothing.
func OfText(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	return Of(parsed)
}
