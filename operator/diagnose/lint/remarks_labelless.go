package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

var (
	// mayAggregate matches expressions with vector or an aggregation, whose result may have no labels.
	mayAggregate = lazyregexp.New(`\b(?:vector|sum|min|max|avg|count|group|quantile|stddev|stdvar)\b`)
	// clockFunctions are the functions of the time of the evaluation. Without an argument, their result has no labels.
	clockFunctions = []string{"minute", "hour", "day_of_week", "day_of_month", "day_of_year", "days_in_month", "month", "year"}
	// keepLabels are functions whose result has the labels of their only vector, beside those over time.
	keepLabels = []string{"rate", "irate", "increase", "delta", "idelta", "deriv", "predict_linear", "changes", "resets", "abs", "ceil", "floor", "round", "clamp", "clamp_min", "clamp_max", "timestamp"}
)

// mayLackLabels reports whether an expression may have an operand without labels, before it is parsed.
func mayLackLabels(expr string) bool {
	return mayAggregate.MatchString(expr) || slices.ContainsFunc(clockFunctions, func(name string) bool { return strings.Contains(expr, name) })
}

// labellessRemarks reports operations between samples that have labels and samples that have none, which never match. A name
// that a rule among the manifests records may have none.
func (l *linter) labellessRemarks(always says, queries []*query) {
	recorded := func(name string) bool {
		_, is := slices.BinarySearch(l.recordedNames(), name)
		return is || strings.Contains(name, ":")
	}
	for _, q := range queries {
		if !mayLackLabels(q.text) || q.expr() == nil {
			continue
		}
		parser.Inspect(q.expr(), func(n parser.Node, _ []parser.Node) error {
			if e, is := n.(*parser.BinaryExpr); is {
				if why := oneLabelless(e, recorded); why != "" {
					always(q.path("expr"), "%s", why)
				}
			}
			return nil
		})
	}
}

// oneLabelless returns why samples of an operation never match: those of one operand have no labels. Empty if they may match.
func oneLabelless(e *parser.BinaryExpr, recorded func(string) bool) string {
	match := e.VectorMatching
	if match == nil || e.Op == parser.LOR || match.On || len(match.MatchingLabels) > 0 || match.FillValues.LHS != nil || match.FillValues.RHS != nil {
		return ""
	}
	set := e.Op.IsSetOperator()
	var without, with string
	switch {
	case labelless(e.RHS, set) && labelled(e.LHS, recorded):
		without, with = "second", "first"
	case labelless(e.LHS, set) && labelled(e.RHS, recorded):
		without, with = "first", "second"
	default:
		return ""
	}
	if isAggregation(e.LHS) && isAggregation(e.RHS) {
		return "" // see unmatched
	}
	reason := fmt.Sprintf("samples of the %s operand have no labels, those of the %s have some, and only samples with equal labels match", without, with)
	effect, advice := "has no result", "group_right ()"
	if e.Op == parser.LUNLESS {
		effect = "leaves nothing out"
	}
	if set {
		advice = shortened(e.RHS.String())
	} else if without == "second" {
		advice = "group_left ()"
	}
	return fmt.Sprintf("%[1]s %[2]s: %[3]s; write %[1]s on () %[4]s", e.Op, effect, reason, advice)
}

// labelless reports whether the samples of an expression have no labels. clock: aggregations do not count.
func labelless(e parser.Expr, clock bool) bool {
	switch e := bare(e).(type) {
	case *parser.BinaryExpr:
		left, right := e.LHS.Type() == parser.ValueTypeScalar, e.RHS.Type() == parser.ValueTypeScalar
		switch {
		case left && right:
			return false
		case left:
			return labelless(e.RHS, clock)
		case right:
			return labelless(e.LHS, clock)
		}
		return e.VectorMatching != nil && e.VectorMatching.Card != parser.CardOneToMany && e.VectorMatching.Card != parser.CardManyToOne && labelless(e.LHS, clock) && labelless(e.RHS, clock)
	case *parser.AggregateExpr:
		switch e.Op {
		case parser.SUM, parser.MIN, parser.MAX, parser.AVG, parser.COUNT, parser.GROUP, parser.QUANTILE, parser.STDDEV, parser.STDVAR:
			return !clock && !e.Without && len(e.Grouping) == 0
		}
	case *parser.Call:
		return e.Func.Name == "vector" || len(e.Args) == 0 && slices.Contains(clockFunctions, e.Func.Name)
	}
	return false
}

// labelled reports whether the samples of an expression surely have labels, as all have that are scraped.
func labelled(e parser.Expr, recorded func(string) bool) bool {
	switch e := bare(e).(type) {
	case *parser.VectorSelector:
		return e.Name != "" && !recorded(e.Name) || slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Name != model.MetricNameLabel && !m.Matches("")
		})
	case *parser.MatrixSelector:
		return labelled(e.VectorSelector, recorded)
	case *parser.SubqueryExpr:
		return labelled(e.Expr, recorded)
	case *parser.Call:
		name := e.Func.Name
		if slices.Contains(keepLabels, name) || strings.HasSuffix(name, "_over_time") && name != "absent_over_time" {
			return slices.ContainsFunc(e.Args, func(arg parser.Expr) bool {
				return arg.Type() != parser.ValueTypeScalar && labelled(arg, recorded)
			})
		}
	case *parser.AggregateExpr:
		return !e.Without && len(e.Grouping) > 0 && labelled(e.Expr, recorded)
	case *parser.BinaryExpr:
		return labelledResult(e, recorded)
	}
	return false
}

// labelledResult is like labelled for an operation.
func labelledResult(e *parser.BinaryExpr, recorded func(string) bool) bool {
	match := e.VectorMatching
	switch left, right := e.LHS.Type() == parser.ValueTypeScalar, e.RHS.Type() == parser.ValueTypeScalar; {
	case right && !left:
		return labelled(e.LHS, recorded)
	case left && !right:
		return labelled(e.RHS, recorded)
	case match == nil || e.Op == parser.LOR:
		return false
	case e.Op.IsSetOperator():
		return labelled(e.LHS, recorded)
	}
	return match.Card == parser.CardOneToOne && match.On == (len(match.MatchingLabels) > 0) && labelled(e.LHS, recorded) && labelled(e.RHS, recorded)
}
