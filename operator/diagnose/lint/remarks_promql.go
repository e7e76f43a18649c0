package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
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
	switch e := bare(e).(type) {
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
	n, is := literal(param)
	if !is || n >= 0 && n <= 1 {
		return ""
	}
	text := fmt.Sprintf("the result of %s is infinite, because a quantile is between 0 and 1, and this one is %v", name, n)
	if n > 1 && n <= 100 {
		text += fmt.Sprintf("; write %v", n/100)
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

// dividedByItself returns why a ratio is 1 wherever it has a result: both sides are of one metric, and the right one has all
// series of the left one. Empty for other expressions.
func dividedByItself(e *parser.BinaryExpr) string {
	if e.Op != parser.DIV || e.VectorMatching == nil || e.VectorMatching.On || len(e.VectorMatching.MatchingLabels) > 0 {
		return ""
	}
	left, right := seriesOf(e.LHS), seriesOf(e.RHS)
	if left == nil || right == nil || left.function != right.function || left.selector.Name == "" || left.selector.Name != right.selector.Name {
		return ""
	}
	has := map[string]bool{}
	for _, m := range left.selector.LabelMatchers {
		has[m.String()] = true
	}
	for _, m := range right.selector.LabelMatchers {
		if !has[m.String()] {
			return ""
		}
	}
	if len(right.selector.LabelMatchers) == len(left.selector.LabelMatchers) {
		return "" // on purpose, for the labels
	}
	return "the result is 1 for each series that has one, because / pairs series with the same labels, and so divides each by itself: sum both sides, such as sum by (job) (…) / sum by (job) (…)"
}

// series is a selector with the function that is applied to it.
type series struct {
	function string // with range and offset
	selector *parser.VectorSelector
}

// seriesOf returns the series of a selector, or of a function of one; nil for other expressions.
func seriesOf(e parser.Expr) *series {
	switch e := bare(e).(type) {
	case *parser.VectorSelector:
		return &series{fmt.Sprint(e.OriginalOffset, e.Timestamp, e.StartOrEnd), e}
	case *parser.Call:
		if len(e.Args) != 1 {
			return nil
		}
		if m, is := e.Args[0].(*parser.MatrixSelector); is {
			if inner := seriesOf(m.VectorSelector); inner != nil {
				return &series{fmt.Sprint(e.Func.Name, m.Range, inner.function), inner.selector}
			}
		}
	}
	return nil
}

// dashed describes a name with a dash.
func dashed(left, right string) string {
	return fmt.Sprintf("%[1]s-%[2]s is read as %[1]s minus %[2]s; if it is the name of a metric, write {%[3]q}, as exporters of metrics for Prometheus 2 write _ instead", left, right, left+"-"+right)
}

// successes are metrics that are 1 where all is well and 0 otherwise.
var successes = []string{"up", "probe_success"}

// ofSuccess matches text with one of successes.
var ofSuccess = lazyregexp.New(`\b(?:up|probe_success)\b`)

// comparison returns what to write in an expression that compares nothing.
func comparison(e parser.Expr) string {
	if v, is := bare(e).(*parser.VectorSelector); is && slices.Contains(successes, v.Name) {
		return "write == 0 after it for what is not well"
	}
	return "compare the result, as in … > 0"
}

// unconditional returns the name of what makes an alert fire for each series, whatever its value: the expression
// computes a number and compares it with nothing. Empty if it may be a condition.
func unconditional(e parser.Expr) string {
	switch e := bare(e).(type) {
	case *parser.VectorSelector:
		if slices.Contains(successes, e.Name) {
			return e.Name + ", which is 1 where all is well, is compared with nothing"
		}
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

// gaugeTotals matches gauges that are called like counters.
var gaugeTotals = lazyregexp.New(`^(?:harbor_.*|velero_(?:backup|restore)|elasticsearch_.*_docs|ceph_pg)_total$`)

// growing returns the name of a counter that an expression compares with a number; empty if it compares none.
func growing(e parser.Expr) string {
	switch e := bare(e).(type) {
	case *parser.BinaryExpr:
		switch e.Op {
		case parser.LAND:
			return growing(e.LHS)
		case parser.LOR:
			return cmp.Or(growing(e.LHS), growing(e.RHS))
		case parser.GTR, parser.GTE:
			selector, is := e.LHS.(*parser.VectorSelector)
			if _, number := literal(e.RHS); is && number && strings.HasSuffix(selector.Name, "_total") && !gaugeTotals.MatchString(selector.Name) {
				return selector.Name
			}
		}
	}
	return ""
}
