package rules

import (
	"errors"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

var errLabelGrowth = errors.New("label_join and label_replace can make the labels of a series more than 256 times as large, which no server has memory for: " +
	"write each label to a replacement once, and use fewer labels and shorter separators")

// growthUnit is the size of a label of a series, in bytes.
const growthUnit = 256

// labelSizes are upper bounds of the sizes of the labels of each series that an expression returns, in units of those of the
// series that it selects. Any label may have all of these.
type labelSizes struct {
	written map[string]int // labels that are larger than one unit
	total   int
}

func (l *labelSizes) of(name string) int { return max(1, l.written[name]) }

// write sets the size of a label. The largest remains, as the label stays where the function does not match.
func (l *labelSizes) write(name string, size int) {
	l.total += size
	if size > l.of(name) {
		if l.written == nil {
			l.written = map[string]int{}
		}
		l.written[name] = size
	}
}

// join adds the labels of another operand. A result has the labels of one of them, or of both if it includes some.
func (l *labelSizes) join(other labelSizes, includes bool) {
	if includes {
		l.total += other.total
	} else {
		l.total = max(l.total, other.total)
	}
	if l.written == nil {
		l.written = other.written
		return
	}
	for name, size := range other.written {
		l.written[name] = max(l.written[name], size)
	}
}

// checkLabels limits the labels that an expression can make, and charges the regular expressions of label_replace. The limit
// of Prometheus is the number of samples only: forty times label_replace with $1$1 exhaust any memory.
//
// Errors: [errLabelGrowth], [errRegexpCost].
func (e *effort) checkLabels(expr parser.Expr, text string) error {
	if !strings.Contains(text, "label_join") && !strings.Contains(text, "label_replace") {
		return nil
	}
	_, err := e.labelsOf(expr)
	return err
}

func (e *effort) labelsOf(n parser.Node) (out labelSizes, err error) {
	out.total = 1
	includes := false
	if b, is := n.(*parser.BinaryExpr); is {
		includes = b.VectorMatching != nil && len(b.VectorMatching.Include) > 0
	}
	for child := range parser.ChildrenIter(n) {
		sizes, err := e.labelsOf(child)
		if err != nil {
			return out, err
		}
		out.join(sizes, includes)
	}
	call, is := n.(*parser.Call)
	if !is {
		return out, nil
	}
	switch call.Func.Name {
	case "label_replace":
		err = e.labelReplace(call.Args, &out)
	case "label_join":
		labelJoin(call.Args, &out)
	}
	if err == nil && out.total > budget.SeriesGrowth {
		err = errLabelGrowth
	}
	return out, err
}

// labelReplace follows label_replace(v, target, replacement, source, regex).
func (e *effort) labelReplace(args parser.Expressions, out *labelSizes) error {
	target, replacement, source, regex := stringOf(args[1]), stringOf(args[2]), stringOf(args[3]), stringOf(args[4])
	if e.regexps += regexcost.OfText(regex); e.regexps > budget.RuleRegexpCost {
		return errRegexpCost
	}
	parsed, err := regexcost.ParseWithin("^(?s:", regex, ")$")
	if err != nil {
		return nil // Prometheus reports it when it evaluates the rule
	}
	out.write(target, regexcost.Copies(parsed, replacement)*out.of(source)+len(replacement)/growthUnit)
	return nil
}

// labelJoin follows label_join(v, target, separator, sources...).
func labelJoin(args parser.Expressions, out *labelSizes) {
	size := len(stringOf(args[2])) * len(args[3:]) / growthUnit
	for _, source := range args[3:] {
		size += out.of(stringOf(source))
	}
	out.write(stringOf(args[1]), size)
}

// stringOf returns the value of a string argument, which is always a constant.
func stringOf(arg parser.Expr) string {
	switch arg := arg.(type) {
	case *parser.ParenExpr:
		return stringOf(arg.Expr)
	case *parser.StringLiteral:
		return arg.Val
	}
	return ""
}
