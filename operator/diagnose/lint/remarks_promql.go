package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// bucketless returns why histogram_quantile has no result: its argument has no label le. Native histograms, which need
// none, have no series with the suffix _bucket. Empty if it may have one.
func bucketless(call *parser.Call) string {
	if call.Func.Name != "histogram_quantile" || len(call.Args) < 2 || !strings.Contains(call.Args[1].String(), "_bucket") {
		return ""
	}
	if without := withoutLe(call.Args[1]); without {
		return "histogram_quantile has no result, because without (…) removes the label le, by which it finds the buckets: take le out of it"
	}
	has, known := resultLabels(call.Args[1])
	if !known || has["le"] {
		return ""
	}
	by := append([]string{"le"}, slices.Sorted(maps.Keys(has))...)
	return fmt.Sprintf("histogram_quantile has no result, because its argument has %s, and it finds the buckets by le: write by (%s)", labelList(has), strings.Join(by, ", "))
}

// withoutLe reports whether an aggregation removes the label le.
func withoutLe(e parser.Expr) bool {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return withoutLe(e.Expr)
	case *parser.StepInvariantExpr:
		return withoutLe(e.Expr)
	case *parser.AggregateExpr:
		return e.Without && setOf(e.Grouping)["le"]
	}
	return false
}

// quantileOf returns why a function of quantiles has an infinite result.
func quantileOf(call *parser.Call) string {
	if name := call.Func.Name; name == "histogram_quantile" || name == "quantile_over_time" {
		return beyondOne(name, call.Args[0])
	}
	return ""
}

// beyondOne returns why a quantile is infinite: it is not between 0 and 1.
func beyondOne(name string, param parser.Expr) string {
	for {
		inner, is := param.(*parser.ParenExpr)
		if !is {
			break
		}
		param = inner.Expr
	}
	n, is := param.(*parser.NumberLiteral)
	if !is || n.Val >= 0 && n.Val <= 1 {
		return ""
	}
	text := fmt.Sprintf("the result of %s is infinite, because a quantile is between 0 and 1, and this one is %v", name, n.Val)
	if n.Val > 1 && n.Val <= 100 {
		text += fmt.Sprintf("; write %v", n.Val/100)
	}
	return text
}

// subtracted returns a doubt about a subtraction whose first operand looks like the beginning of the name of a
// metric. expr is the whole expression.
func subtracted(expr string, e *parser.BinaryExpr) string {
	left, isName := e.LHS.(*parser.VectorSelector)
	right, alsoName := e.RHS.(*parser.VectorSelector)
	if e.Op != parser.SUB || !isName || !alsoName || len(left.LabelMatchers) != 1 || left.Name == "up" || strings.ContainsAny(left.Name, "_:") {
		return ""
	}
	end, start := int(left.PosRange.End), int(right.PosRange.Start)
	if start != end+1 || end >= len(expr) || expr[end] != '-' {
		return ""
	}
	return dashed(left.Name, right.Name)
}

// dashed describes a name with a dash.
func dashed(left, right string) string {
	return fmt.Sprintf("%[1]s-%[2]s is read as %[1]s minus %[2]s; if it is the name of a metric, write {%[3]q}, as exporters of metrics for Prometheus 2 write _ instead", left, right, left+"-"+right)
}

// unconditional returns the name of what makes an alert fire for each series, whatever its value: the expression
// computes a number and compares it with nothing. Empty if it may be a condition.
func unconditional(e parser.Expr) string {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return unconditional(e.Expr)
	case *parser.StepInvariantExpr:
		return unconditional(e.Expr)
	case *parser.AggregateExpr:
		return unconditional(e.Expr)
	case *parser.BinaryExpr:
		switch {
		case e.Op.IsComparisonOperator() && e.ReturnBool:
			return fmt.Sprintf("%s bool has the result 0 instead of none where it is false", e.Op)
		case e.Op.IsComparisonOperator() || e.Op.IsSetOperator():
			return ""
		case e.LHS.Type() == parser.ValueTypeScalar:
			return unconditional(e.RHS)
		case e.RHS.Type() == parser.ValueTypeScalar:
			return unconditional(e.LHS)
		}
		left, right := unconditional(e.LHS), unconditional(e.RHS)
		if left == "" || right == "" {
			return ""
		}
		return left
	case *parser.Call:
		switch e.Func.Name {
		case "rate", "irate", "increase", "delta", "idelta", "deriv", "predict_linear", "histogram_quantile", "avg_over_time", "sum_over_time", "quantile_over_time":
			return e.Func.Name + " is compared with nothing"
		case "abs", "ceil", "floor", "round", "label_replace", "label_join", "sort", "sort_desc":
			return unconditional(e.Args[0])
		}
	}
	return ""
}
