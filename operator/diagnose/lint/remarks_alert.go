package lint

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// usedLabel matches a label of the alert in a template. It excludes .Labels, which may be those of a query result.
var usedLabel = lazyregexp.New(`\$labels\.([A-Za-z_][A-Za-z0-9_]*)`)

// helmQuoted matches braces that were escaped for Helm: {{`{{ $value }}`}} or {{"{{"}} $value {{"}}"}}.
var helmQuoted = lazyregexp.New("\\{\\{-?\\s*(`|\")\\{\\{")

// alertRemarks reports labels in templates that the result of the expression does not have,
// because it aggregates them away. The remarks should be notes, because widely used rules have
// such labels.
func alertRemarks(say says, queries []*query) {
	for _, q := range queries {
		if q.rule.Alert == "" || q.rule.Expr == (intstr.IntOrString{}) { // without expr, which is an error of the manifest
			continue
		}
		result := alertLabels{query: q}
		for field, text := range q.templates() {
			if helmQuoted.MatchString(text) {
				say(field, "the quotes around {{ are those that a Helm chart needs; here the alert says {{ … }} as it is, without a value: leave them out")
			}
			for _, use := range usedLabel.Get().FindAllStringSubmatch(text, -1) {
				result.uses(say, field, use[0], use[1])
			}
		}
	}
}

// templates iterates over the paths and texts of annotations and labels.
func (q *query) templates() iter.Seq2[string, string] {
	return func(yield func(field, text string) bool) {
		for _, in := range []struct {
			field string
			texts map[string]string
		}{{"annotations", q.rule.Annotations}, {"labels", q.rule.Labels}} {
			for _, key := range slices.Sorted(maps.Keys(in.texts)) {
				if !yield(q.path(in.field+"."+key), in.texts[key]) {
					return
				}
			}
		}
	}
}

// alertLabels are the labels of the result of a query, which are computed when one of them is used.
type alertLabels struct {
	*query
	computed  bool
	known     bool            // has is complete
	has, gone map[string]bool // gone: removed by without
}

// uses reports a use of a label, such as {{ $labels.pod }}, that the result does not have.
func (a *alertLabels) uses(say says, field, use, label string) {
	if !a.computed && a.expr() != nil {
		a.has, a.known = resultLabels(a.expr())
		a.gone = lostLabels(a.expr())
	}
	a.computed = true
	if a.known && !a.has[label] {
		say(field, "%s is empty: the result of expr has %s; %s", use, labelList(a.has), a.addLabel(label))
	} else if a.gone[label] {
		say(field, "%s is empty: without (…) in expr removes %[2]s; take %[2]s out of it, or leave it out here", use, label)
	}
}

func labelList(has map[string]bool) string {
	switch names := slices.Sorted(maps.Keys(has)); len(names) {
	case 0:
		return "no labels"
	case 1:
		return "the label " + names[0] + " only"
	default:
		return "the labels " + strings.Join(names, ", ") + " only"
	}
}

// addLabel returns advice on how to add a label to the result of the expression of an alert.
func (q *query) addLabel(label string) string {
	if own := q.rule.Labels[label]; own != "" && !strings.Contains(own, "{{") || label == model.AlertNameLabel {
		return "labels that the rule adds are not in $labels: write the value here"
	}
	expr := q.expr()
	absent, aggregates := false, false
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		call, is := n.(*parser.Call)
		absent = absent || is && (call.Func.Name == "absent" || call.Func.Name == "absent_over_time")
		_, is = n.(*parser.AggregateExpr)
		aggregates = aggregates || is
		return nil
	})
	if absent {
		return "that of absent has those which its selector compares with =, as nothing else is known of what is not there; leave it out"
	}
	if grouped := groupLabel(expr, label); grouped != "" {
		return grouped + ", or leave it out"
	}
	if !aggregates {
		return "leave it out"
	}
	return fmt.Sprintf("add %s to by (…) in expr, or leave it out", label)
}

// groupLabel returns advice on how an operation between two vectors adds a label of one of them; empty for other expressions,
// and if neither has the label.
func groupLabel(expr parser.Expr, label string) string {
	e, is := bare(expr).(*parser.BinaryExpr)
	switch {
	case !is:
		return ""
	case e.RHS.Type() == parser.ValueTypeScalar, e.Op == parser.LAND, e.Op == parser.LUNLESS:
		return groupLabel(e.LHS, label)
	case e.LHS.Type() == parser.ValueTypeScalar:
		return groupLabel(e.RHS, label)
	case e.Op.IsSetOperator() || e.VectorMatching == nil:
		return ""
	}
	may := func(of parser.Expr) bool {
		has, known := resultLabels(of)
		return (!known || has[label]) && !lostLabels(of)[label]
	}
	match := e.VectorMatching
	switch {
	case match.Card == parser.CardManyToOne && may(e.RHS):
		return fmt.Sprintf("add %s to group_left (…) in expr", label)
	case match.Card == parser.CardOneToMany && may(e.LHS):
		return fmt.Sprintf("add %s to group_right (…) in expr", label)
	case match.Card != parser.CardOneToOne || !match.On:
		return ""
	case may(e.RHS):
		return fmt.Sprintf("write group_left (%s) after on (…) in expr", label)
	case may(e.LHS):
		return fmt.Sprintf("write group_right (%s) after on (…) in expr", label)
	}
	return ""
}

// resultLabels returns the labels that the result of an expression may have; known is false if
// they depend on the samples.
func resultLabels(expr parser.Expr) (has map[string]bool, known bool) {
	if expr.Type() == parser.ValueTypeScalar {
		return map[string]bool{}, true
	}
	switch e := bare(expr).(type) {
	case *parser.UnaryExpr:
		return resultLabels(e.Expr)
	case *parser.AggregateExpr:
		return aggregated(e)
	case *parser.BinaryExpr:
		return combined(e)
	case *parser.Call:
		switch e.Func.Name {
		case "label_replace", "label_join":
			has, known = resultLabels(e.Args[0])
			if text, is := e.Args[1].(*parser.StringLiteral); known && is {
				has[text.Val] = true
			}
			return has, known
		case "absent", "absent_over_time":
			return absent(e.Args[0])
		case "vector":
			return map[string]bool{}, true
		}
		if slices.Contains(clockFunctions, e.Func.Name) {
			if len(e.Args) > 0 {
				return resultLabels(e.Args[0])
			}
			return map[string]bool{}, true
		}
	}
	return nil, false
}

// absent returns the labels of the result of absent and absent_over_time: those with an equality matcher in the
// selector.
func absent(of parser.Expr) (map[string]bool, bool) {
	if range1, is := of.(*parser.MatrixSelector); is {
		of = range1.VectorSelector
	}
	has := map[string]bool{}
	if _, is := of.(*parser.ParenExpr); is {
		return nil, false
	}
	if selector, is := of.(*parser.VectorSelector); is {
		for _, m := range selector.LabelMatchers {
			if m.Type == labels.MatchEqual && m.Name != model.MetricNameLabel {
				has[m.Name] = true
			}
		}
	}
	return has, true
}

func aggregated(e *parser.AggregateExpr) (map[string]bool, bool) {
	switch e.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return resultLabels(e.Expr)
	}
	if e.Without {
		return nil, false
	}
	has := setOf(e.Grouping)
	if text, is := e.Param.(*parser.StringLiteral); is && e.Op == parser.COUNT_VALUES {
		has[text.Val] = true
	}
	return has, true
}

// combined returns the labels of the result of a binary expression.
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
