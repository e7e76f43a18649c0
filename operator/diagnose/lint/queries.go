package lint

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

// query is the expression of a rule, which is parsed at most once.
type query struct {
	rule        *v1.Rule
	text        string
	group, item int // indexes of the group and of the rule in it
	isParsed    bool
	parsed      parser.Expr
}

// queriesOf returns the expressions of an object, one for each rule.
func queriesOf(r *v1.PrometheusRule) (out []*query) {
	for i := range r.Spec.Groups {
		for j := range r.Spec.Groups[i].Rules {
			rule := &r.Spec.Groups[i].Rules[j]
			out = append(out, &query{rule: rule, text: rule.Expr.String(), group: i, item: j})
		}
	}
	return out
}

// expr returns the parsed expression, nil if the newest PromQL does not have it; it may be valid in another version.
func (q *query) expr() parser.Expr {
	if !q.isParsed {
		q.isParsed = true
		if expr, err := parser.NewParser(rules.AllPromQL()).ParseExpr(q.text); err == nil {
			q.parsed = expr
		}
	}
	return q.parsed
}

// path returns the path of a field of the rule.
func (q *query) path(field string) string {
	return fmt.Sprintf("spec.groups[%d].rules[%d].%s", q.group, q.item, field)
}

// selectors returns the matchers of each selector of the expression; nil without an expression.
func (q *query) selectors() [][]*labels.Matcher {
	if q.expr() == nil {
		return nil
	}
	return parser.ExtractSelectors(q.expr())
}
