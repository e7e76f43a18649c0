// Package regexcost bounds the cost of the regular expressions of one object. The length of an expression
// does not bound its cost: \pL{990} compiles to ten megabytes in 0.2 seconds, in the operator and in
// every pod that loads it, and parsing a long expression takes up to two hundred times its length.
//
//	var budget regexcost.Budget // of one object
//	parsed, err := regexcost.Parse(text)
//	if err == nil {
//		err = budget.Add(parsed)
//	}
package regexcost

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// ErrExceeded means that the expressions of an object exceed its budget.
var ErrExceeded = errors.New("the regular expressions of the object compile to too much: use fewer repetitions such as {100} and fewer character classes")

// ErrTooManyOperators means that an expression is too expensive to parse.
var ErrTooManyOperators = fmt.Errorf("a regular expression with more than %d operators and character classes: use several steps or objects", budget.RegexpOperators)

// IsTooMuch reports whether an error is one of this package, rather than a syntax error.
func IsTooMuch(err error) bool {
	return errors.Is(err, ErrExceeded) || errors.Is(err, ErrTooManyOperators)
}

// Parse checks that parsing an expression is cheap, and parses it.
//
// Errors: [ErrTooManyOperators]; [*syntax.Error].
func Parse(text string) (*syntax.Regexp, error) {
	if operators(text) > budget.RegexpOperators {
		return nil, ErrTooManyOperators
	}
	return syntax.Parse(text, syntax.Perl)
}

// ParseWithin is like Parse for an expression with something before and after it, such as anchors. Errors are
// about the expression alone, which is all that a user has written.
func ParseWithin(before, text, after string) (*syntax.Regexp, error) {
	re, err := Parse(before + text + after)
	if wrong, is := errors.AsType[*syntax.Error](err); is {
		if _, alone := syntax.Parse(text, syntax.Perl); alone != nil {
			return nil, alone
		}
		return nil, fmt.Errorf("error parsing regexp: %s", wrong.Code)
	}
	return re, err
}

// Hint returns what to write instead of syntax of other dialects, to be appended to an error; empty for other errors.
// The second argument replaces an assertion that looks ahead or back.
func Hint(err error, instead string) string {
	wrong, _ := errors.AsType[*syntax.Error](err)
	switch {
	case wrong == nil:
		return ""
	case wrong.Code == syntax.ErrMissingRepeatArgument && strings.HasPrefix(wrong.Expr, "*"):
		return "; for any string write .*"
	case wrong.Code == syntax.ErrInvalidPerlOp && strings.HasPrefix(wrong.Expr, "(?"):
		return "; there is no looking ahead or back: " + instead
	}
	return ""
}

// Compile compiles an expression that is not charged to a budget, if it fits into the budget of one object.
//
// Errors: those of [Parse]; [ErrExceeded].
func Compile(text string) (*regexp.Regexp, error) {
	parsed, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if err := new(Budget).Add(parsed); err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}

// Whole compiles an expression that must match a whole value, as those of relabeling do, like [Compile].
func Whole(text string) (*regexp.Regexp, error) { return Compile("^(?s:" + text + ")$") }

const (
	// tableOperators is the weight of a Unicode class. The parser copies its table of hundreds of
	// ranges, also for each repetition within brackets.
	tableOperators = 64
	// foldOperators is the weight of a case-insensitive character range. The parser visits each
	// of its up to 125,000 characters.
	foldOperators = 256
)

// operators estimates the cost of parsing an expression, in nodes of about 200 bytes. The
// estimate is conservative.
func operators(text string) (n int) {
	if len(text) <= budget.RegexpOperators/foldOperators {
		return len(text)
	}
	ranges, folds, classes := 0, false, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
			switch c := text[min(i, len(text)-1)]; {
			case c == 'p' || c == 'P':
				n += tableOperators
			case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
				n++
			}
		case '(':
			n++
			folds = folds || ignoresCase(text[i+1:])
		case '[':
			n, classes = n+1, true
		case '.', '^', '$', '|', '*', '+', '?', '{':
			n++
		case '-':
			ranges++
		}
	}
	switch {
	case !classes:
		ranges = 0 // a hyphen is a character there
	case folds:
		ranges *= foldOperators
	}
	return n + ranges
}

// ignoresCase reports whether the text after a parenthesis begins with flags that may make the parser ignore case.
func ignoresCase(text string) bool {
	flags, is := strings.CutPrefix(text, "?")
	for i := 0; is && i < len(flags); i++ {
		switch flags[i] {
		case 'i':
			return true
		case 'm', 's', 'U', '-':
		default:
			return false
		}
	}
	return false
}

// Budget is a limit for the total cost of the expressions of one object, or of several, with what was
// charged. The zero value is a budget for one object. It is not safe for concurrent use.
type Budget struct {
	spent int
	most  int // 0 for that of one object
}

// BudgetOf returns the budget of a number of objects together.
func BudgetOf(objects int) *Budget { return &Budget{most: objects * budget.RegexpCost} }

// Spent returns the cost of the expressions that were charged.
func (b *Budget) Spent() int { return b.spent }

func (b *Budget) charge(cost int) error {
	if b.spent += cost; b.spent > max(b.most, budget.RegexpCost) {
		return ErrExceeded
	}
	return nil
}

// Add charges an expression, even if it exceeds the budget.
//
// Errors: [ErrExceeded].
func (b *Budget) Add(parsed *syntax.Regexp) error { return b.charge(Of(parsed)) }

// Charge parses and charges an expression. An expression that does not parse costs nothing.
//
// Errors: [ErrExceeded], [ErrTooManyOperators].
func (b *Budget) Charge(text string) error {
	parsed, err := Parse(text)
	if err == nil {
		err = b.Add(parsed)
	}
	if IsTooMuch(err) {
		return err
	}
	return nil
}

// ChargeText is like [Budget.Charge], but an expression that does not parse costs its length. It is
// for texts that may not be expressions.
//
// Errors: [ErrExceeded], [ErrTooManyOperators].
func (b *Budget) ChargeText(text string) error {
	parsed, err := Parse(text)
	switch {
	case err == nil:
		return b.Add(parsed)
	case IsTooMuch(err):
		return err
	}
	return b.charge(len(text))
}

// Of returns the cost of an expression: roughly the number of compiled instructions and bounds of
// character ranges. One unit takes about ten nanoseconds and eight bytes.
func Of(re *syntax.Regexp) int {
	cost := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		cost += Of(sub)
	}
	if re.Op == syntax.OpRepeat { // is expanded; the parser limits the count
		cost *= max(re.Max, re.Min+1)
	}
	return cost
}

// OfText returns the cost of an expression in text form, see [Of]. An invalid expression costs
// nothing. One that is too expensive to parse costs more than any budget.
func OfText(text string) int {
	switch parsed, err := Parse(text); {
	case errors.Is(err, ErrTooManyOperators):
		return max(budget.RegexpCost, budget.RuleRegexpCost) + 1
	case err != nil:
		return 0
	default:
		return Of(parsed)
	}
}
