package lint

import (
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// swapped are the comparisons that hold when the operands are exchanged.
var swapped = map[parser.ItemType]parser.ItemType{parser.LSS: parser.GTR, parser.GTR: parser.LSS, parser.LTE: parser.GTE, parser.GTE: parser.LTE, parser.EQLC: parser.EQLC, parser.NEQ: parser.NEQ}

// neverTrue returns why a comparison with a number never has a result: its operand is never below 1, because
// nothing is counted as no result and not as 0. Empty if it may have one.
func neverTrue(e *parser.BinaryExpr) string {
	operand, op, number := e.LHS, e.Op, e.RHS
	if e.LHS.Type() == parser.ValueTypeScalar {
		operand, op, number = e.RHS, swapped[e.Op], e.LHS
	}
	n, is := literal(number)
	if !is || e.ReturnBool || !e.Op.IsComparisonOperator() {
		return ""
	}
	text := fmt.Sprintf("%s %v", op, n)
	if op == parser.LSS && n <= 0 || (op == parser.LTE || op == parser.EQLC) && n < 0 {
		if function := neverNegative(operand); function != "" {
			return fmt.Sprintf("%s is never true, because %s is never below 0: it takes what falls for a counter that began again; for a value that falls write delta or deriv", text, function)
		}
	}
	switch function := emptyInsteadOfZero(operand); {
	case function == "":
		return ""
	case op == parser.EQLC && n < 1, op == parser.LSS && n <= 1, op == parser.LTE && n < 1:
		if function == "count" {
			return fmt.Sprintf("%s is never true, because count has no result instead of 0 where it counts nothing; write absent(…) of what is counted, or (count(…) or vector(0)) %[1]s", text)
		}
		return fmt.Sprintf("%s is never true, because the result of %s is 1, or none; leave the comparison out, or for the opposite write the expression in it", text, function)
	case function != "count" && (op == parser.GTR && n >= 1 || op == parser.GTE && n > 1 || op == parser.NEQ && n == 1 || op == parser.EQLC && n != 1):
		return fmt.Sprintf("%s is never true, because the result of %s is 1, or none; leave the comparison out", text, function)
	}
	return ""
}

// emptyInsteadOfZero returns the name of a function that has no result where another one would have 0; empty for other
// expressions.
func emptyInsteadOfZero(e parser.Expr) string {
	switch e := bare(e).(type) {
	case *parser.AggregateExpr:
		if e.Op == parser.COUNT || e.Op == parser.GROUP {
			return e.Op.String()
		}
	case *parser.Call:
		if e.Func.Name == "absent" || e.Func.Name == "absent_over_time" {
			return e.Func.Name
		}
	}
	return ""
}

// neverNegative returns the name of the function of counters that makes an expression at least 0; empty for other expressions.
func neverNegative(e parser.Expr) string {
	switch e := bare(e).(type) {
	case *parser.AggregateExpr:
		switch e.Op {
		case parser.SUM, parser.AVG, parser.MIN, parser.MAX, parser.TOPK, parser.BOTTOMK:
			return neverNegative(e.Expr)
		}
	case *parser.Call:
		switch e.Func.Name {
		case "rate", "irate", "increase":
			return e.Func.Name
		}
	}
	return ""
}

// bare returns an expression without the parentheses around it.
func bare(e parser.Expr) parser.Expr {
	for {
		switch inner := e.(type) {
		case *parser.ParenExpr:
			e = inner.Expr
		case *parser.StepInvariantExpr:
			e = inner.Expr
		default:
			return e
		}
	}
}

// literal returns the value of a number.
func literal(e parser.Expr) (float64, bool) {
	n, is := bare(e).(*parser.NumberLiteral)
	if !is {
		return 0, false
	}
	return n.Val, true
}

// inComment matches a comment that has a comparison, and no quote before it, in which # means itself.
var inComment = lazyregexp.New("(?m)^[^\"'`#]*(#.*(?:[<>]|[!=]=).*)$")

// commentedOut returns the advice for a comparison in a comment, where the folded lines of a YAML scalar put it; empty
// if there is none.
func commentedOut(text string) string {
	if m := inComment.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("what follows # is a comment to the end of the line, also %q: > in YAML joins the lines, | keeps them", shortened(m[1]))
	}
	return ""
}

var (
	// quotedText matches text in quotes, in which # means itself.
	quotedText = lazyregexp.New("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	// joinedToComment matches the only line of an expression with a comment of words, which an operator of PromQL follows.
	joinedToComment = lazyregexp.New(`^[^#\n]*(#[^\n]*\w[ \t]+(?:and|or|unless)[ \t]+(?:on|ignoring)[ \t]*\([^\n]*)\s*$`)
)

// joinedRemark reports an expression of which the last part became a comment, as the folded lines of a YAML scalar do.
func joinedRemark(note says, q *query) {
	if m := joinedToComment.FindStringSubmatch(quotedText.ReplaceAllString(q.text, `""`)); m != nil && q.expr() != nil {
		note(q.path("expr"), "what follows # is a comment to the end of the line, also %q: > in YAML joins the lines, | keeps them", shortened(strings.TrimSpace(m[1])))
	}
}

// shortened returns the beginning of a text.
func shortened(text string) string {
	const most = 40
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// lostLabels returns the labels that the last aggregation of an expression removes from its result.
func lostLabels(e parser.Expr) map[string]bool {
	switch e := bare(e).(type) {
	case *parser.AggregateExpr:
		if e.Without && e.Op != parser.TOPK && e.Op != parser.BOTTOMK && e.Op != parser.LIMITK && e.Op != parser.LIMIT_RATIO {
			return setOf(e.Grouping)
		}
	case *parser.BinaryExpr:
		switch {
		case e.RHS.Type() == parser.ValueTypeScalar || e.Op == parser.LAND || e.Op == parser.LUNLESS:
			return lostLabels(e.LHS)
		case e.LHS.Type() == parser.ValueTypeScalar:
			return lostLabels(e.RHS)
		}
	}
	return nil
}
