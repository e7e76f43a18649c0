package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// parseAll parses every expression of the document once. If a label is enforced, it
// replaces labels and expressions in the document. wrong holds the fault of each invalid
// expression by group and rule; nil if there are none.
//
// changed describes the user's matchers that were replaced, and the annotations that were left out.
func parseAll(doc *ruleFile, namespace string, s Settings) (wrong map[[2]int]string, changed remarks, spent effort) {
	p := parser.NewParser(s.PromQL)
	var must *labels.Matcher
	if s.EnforcedLabel != "" {
		must = labels.MustNewMatcher(labels.MatchEqual, s.EnforcedLabel, namespace)
	}
	queries := limiter{parser: p, must: must}
	for i := range doc.Groups {
		for j := range doc.Groups[i].Rules {
			r := &doc.Groups[i].Rules[j]
			if must != nil {
				r.Labels = withLabel(r.Labels, must.Name, must.Value)
				changed.leftOut(i, j, queries.rule(r))
			}
			err := spent.affordable(r.exprText())
			if err == nil {
				var others []string
				others, err = r.parse(p, must, &s, &spent)
				changed.replaced(i, j, others, must)
			}
			if err != nil {
				if wrong == nil {
					wrong = map[[2]int]string{}
				}
				wrong[[2]int{i, j}] = err.Error()
			}
		}
	}
	return wrong, changed, spent
}

// maxRemarks is the maximum number of remarks about one object.
const maxRemarks = 10

// remarks describe changes of the rules of an object.
type remarks []faults.Finding

func (r *remarks) add(field, format string, args ...any) {
	if len(*r) < maxRemarks {
		*r = append(*r, faults.Remark(field, format, args...))
	}
}

// leftOut adds a remark for each annotation of a rule that is left out.
func (r *remarks) leftOut(i, j int, left map[string]error) {
	for _, name := range slices.Sorted(maps.Keys(left)) {
		r.add(faults.Key(ruleField(i, j, "annotations"), name), "is left out of the alert: %s", left[name])
	}
}

// replaced adds a remark for each replaced matcher of a rule.
func (r *remarks) replaced(i, j int, others []string, must *labels.Matcher) {
	for _, other := range others {
		r.add(ruleField(i, j, "expr"), "the matcher %s is replaced by %s, because the workload sets spec.enforcedNamespaceLabel; "+
			"except the rule with spec.excludedFromEnforcement, or move it into that namespace", other, must)
	}
}

// ruleField returns the path of a field of rule j in group i.
func ruleField(i, j int, field string) string {
	return fmt.Sprintf("spec.groups[%d].rules[%d].%s", i, j, field)
}

// parse checks the expression and, with a matcher, prints it with the matcher in every
// selector. This loses formatting and comments. replaced holds other matchers on that label.
func (r *rule) parse(p parser.Parser, must *labels.Matcher, s *Settings, spent *effort) (replaced []string, err error) {
	text := r.exprText()
	if text == "" {
		return nil, errMissingExpr
	}
	expr, err := p.ParseExpr(text)
	if err == nil {
		err = s.checkFunctions(expr, text)
	}
	if err == nil {
		err = s.checkSyntax(expr, text)
	}
	if err == nil {
		err = cmp.Or(s.checkTokens(text), s.checkRegexps(expr))
	}
	if err != nil {
		return nil, s.meantFunction(err, text)
	}
	if err := spent.checkLabels(expr, text); err != nil {
		return nil, err
	}
	if must != nil {
		if replaced, err = limit(expr, must); err != nil {
			return nil, err
		}
		r.Expr = expr.String()
	}
	return replaced, nil
}

func (r *rule) exprText() string {
	if n, ok := r.Expr.(int32); ok {
		return strconv.Itoa(int(n))
	}
	return r.Expr.(string) // ruleOf sets no other types
}

// errInfo is the error of a function that selects series of all namespaces. A selector with only the enforced label
// would leave out all labels that it adds.
var errInfo = errors.New(`info needs a second argument, such as {version=~".+"}, because the workload sets spec.enforcedNamespaceLabel: ` +
	"without one, it reads series of other namespaces; except the rule with spec.excludedFromEnforcement")

// limit enforces a matcher in an expression, see [enforce].
func limit(expr parser.Expr, must *labels.Matcher) (replaced []string, err error) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if call, is := n.(*parser.Call); is && call.Func.Name == "info" && len(call.Args) == 1 {
			err = errInfo
		}
		return nil
	})
	if err == nil {
		enforce(expr, must, &replaced)
	}
	return replaced, err
}

// enforce replaces all matchers on the label by must, in every selector below n. Those
// that do not match its value are appended to replaced.
func enforce(n parser.Node, must *labels.Matcher, replaced *[]string) {
	if vs, ok := n.(*parser.VectorSelector); ok {
		other := slices.DeleteFunc(vs.LabelMatchers, func(m *labels.Matcher) bool {
			if m.Name == must.Name && !m.Matches(must.Value) {
				*replaced = append(*replaced, m.String())
			}
			return m.Name == must.Name
		})
		vs.LabelMatchers = append(other, must)
		return
	}
	for child := range parser.ChildrenIter(n) {
		enforce(child, must, replaced)
	}
}

// withLabel returns a copy of in with an additional label.
func withLabel(in map[string]string, name, value string) map[string]string {
	out := make(map[string]string, len(in)+1)
	maps.Copy(out, in)
	out[name] = value
	return out
}
