package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
)

// usedLabel matches a label of the alert in a template. Those that begin with .Labels may be of a query.
var usedLabel = regexp.MustCompile(`\$labels\.([A-Za-z_][A-Za-z0-9_]*)`)

// alertRemarks are about labels in templates that the result of the expression does not have,
// because it aggregates them away. They are notes: rules in wide use have some.
func alertRemarks(say says, r *v1.PrometheusRule) {
	p := parser.NewParser(rules.AllPromQL())
	for i, group := range r.Spec.Groups {
		for j, rule := range group.Rules {
			if rule.Alert == "" || !strings.Contains(rule.Expr.String(), "by") {
				continue
			}
			var has map[string]bool // nil until it is asked for
			for _, in := range []struct {
				field string
				texts map[string]string
			}{{"annotations", rule.Annotations}, {"labels", rule.Labels}} {
				for _, key := range slices.Sorted(maps.Keys(in.texts)) {
					for _, use := range usedLabel.FindAllStringSubmatch(in.texts[key], -1) {
						if has == nil {
							expr, err := p.ParseExpr(rule.Expr.String())
							known := false
							if has, known = resultLabels(expr); err != nil || !known {
								has = map[string]bool{}
							}
						}
						if len(has) > 0 && !has[use[1]] {
							say(fmt.Sprintf("spec.groups[%d].rules[%d].%s.%s", i, j, in.field, key), "%s is empty: the result of expr has the %s only; add %s to by (…) in expr, or leave it out",
								use[0], labelList(has), use[1])
						}
					}
				}
			}
		}
	}
}

func labelList(has map[string]bool) string {
	names := slices.Sorted(maps.Keys(has))
	if len(names) == 1 {
		return "label " + names[0]
	}
	return "labels " + strings.Join(names, ", ")
}

// resultLabels returns the labels that the result of an expression may have; known is false when
// they depend on the samples.
func resultLabels(expr parser.Expr) (has map[string]bool, known bool) {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return resultLabels(e.Expr)
	case *parser.UnaryExpr:
		return resultLabels(e.Expr)
	case *parser.StepInvariantExpr:
		return resultLabels(e.Expr)
	case *parser.AggregateExpr:
		return aggregated(e)
	case *parser.BinaryExpr:
		return combined(e)
	case *parser.Call:
		if name := e.Func.Name; name == "label_replace" || name == "label_join" {
			has, known = resultLabels(e.Args[0])
			if text, is := e.Args[1].(*parser.StringLiteral); known && is {
				has[text.Val] = true
			}
			return has, known
		}
	}
	return nil, false
}

func aggregated(e *parser.AggregateExpr) (map[string]bool, bool) {
	switch e.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return resultLabels(e.Expr)
	}
	if e.Without || len(e.Grouping) == 0 {
		return nil, false
	}
	has := setOf(e.Grouping)
	if text, is := e.Param.(*parser.StringLiteral); is && e.Op == parser.COUNT_VALUES {
		has[text.Val] = true
	}
	return has, true
}

// combined is for two operands. A scalar has no labels.
func combined(e *parser.BinaryExpr) (map[string]bool, bool) {
	switch left, right := e.LHS.Type(), e.RHS.Type(); {
	case right == parser.ValueTypeScalar:
		return resultLabels(e.LHS)
	case left == parser.ValueTypeScalar:
		return resultLabels(e.RHS)
	}
	match := e.VectorMatching
	if match == nil || match.FillValues.LHS != nil || match.FillValues.RHS != nil {
		return nil, false
	}
	switch {
	case e.Op == parser.LAND || e.Op == parser.LUNLESS:
		return resultLabels(e.LHS)
	case e.Op == parser.LOR:
		left, known := resultLabels(e.LHS)
		right, also := resultLabels(e.RHS)
		if !known || !also {
			return nil, false
		}
		maps.Copy(left, right)
		return left, true
	case match.Card == parser.CardOneToOne && match.On:
		if len(match.MatchingLabels) == 0 {
			return nil, false
		}
		return setOf(match.MatchingLabels), true
	case match.Card == parser.CardOneToOne:
		return resultLabels(e.LHS)
	}
	many := e.LHS
	if match.Card == parser.CardOneToMany {
		many = e.RHS
	}
	has, known := resultLabels(many)
	if known {
		maps.Copy(has, setOf(match.Include))
	}
	return has, known
}

func setOf(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}
