package rules

import (
	"maps"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// parseAll parses every expression of the document once. Where a label is
// enforced, labels and expressions of the document are replaced. The result has
// the fault of each expression, by group and rule; nil when all are well.
func parseAll(doc *ruleFile, namespace string, s Settings) map[[2]int]string {
	var faults map[[2]int]string
	var spent effort
	p := parser.NewParser(s.PromQL)
	var must *labels.Matcher
	if s.EnforcedLabel != "" {
		must = labels.MustNewMatcher(labels.MatchEqual, s.EnforcedLabel, namespace)
	}
	for i := range doc.Groups {
		for j := range doc.Groups[i].Rules {
			r := &doc.Groups[i].Rules[j]
			if must != nil {
				r.Labels = withLabel(r.Labels, must.Name, must.Value)
			}
			err := spent.affordable(r.exprText())
			if err == nil {
				err = r.parse(p, must, &s)
			}
			if err != nil {
				if faults == nil {
					faults = map[[2]int]string{}
				}
				faults[[2]int{i, j}] = err.Error()
			}
		}
	}
	return faults
}

// parse checks the expression and, with a matcher, prints it back with the
// matcher in every selector. Formatting and comments are lost then.
func (r *rule) parse(p parser.Parser, must *labels.Matcher, s *Settings) error {
	text := r.exprText()
	if text == "" {
		return errMissingExpr
	}
	expr, err := p.ParseExpr(text)
	if err == nil {
		err = s.checkFunctions(expr)
	}
	if err != nil || must == nil {
		return err
	}
	enforce(expr, must)
	r.Expr = expr.String()
	return nil
}

func (r *rule) exprText() string {
	if n, ok := r.Expr.(int32); ok {
		return strconv.Itoa(int(n))
	}
	return r.Expr.(string) // ruleOf writes nothing else
}

// enforce replaces, in every selector below n, all matchers on the label by must.
func enforce(n parser.Node, must *labels.Matcher) {
	if vs, ok := n.(*parser.VectorSelector); ok {
		other := slices.DeleteFunc(vs.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == must.Name })
		vs.LabelMatchers = append(other, must)
		return
	}
	for child := range parser.ChildrenIter(n) {
		enforce(child, must)
	}
}

// withLabel is a copy of in with one more label.
func withLabel(in map[string]string, name, value string) map[string]string {
	out := make(map[string]string, len(in)+1)
	maps.Copy(out, in)
	out[name] = value
	return out
}
