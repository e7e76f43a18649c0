package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// queryFunction is the only template function that reads series.
const queryFunction = "query"

// errNotConstant means that the selectors of a query are only known when the alert fires.
var errNotConstant = errors.New(`the argument of query must be a constant, such as query "up": the workload sets spec.enforcedNamespaceLabel, ` +
	"and otherwise it could read series of other namespaces; except the rule with spec.excludedFromEnforcement")

// limiter adds a matcher to the selectors of queries in the templates of alerts.
type limiter struct {
	parser parser.Parser
	must   *labels.Matcher
	spent  effort
}

// rule limits the queries of an alert's labels and annotations. Labels whose queries cannot be limited stay, and check
// reports them, because they decide who receives the alert. Such annotations are left out: the alert is worth more than
// its text. It returns their names with the reasons.
func (l *limiter) rule(r *rule) (left map[string]error) {
	if r.Alert == "" {
		return nil
	}
	r.Labels, _ = l.texts(r.Alert, r.Labels)
	r.Annotations, left = l.texts(r.Alert, r.Annotations)
	for name := range left {
		delete(r.Annotations, name)
	}
	return left
}

// texts returns labels or annotations with limited queries, and the errors of those that cannot be limited. The result is a
// copy if there are any of either.
func (l *limiter) texts(alert string, in map[string]string) (out map[string]string, wrong map[string]error) {
	out, copied := in, false
	for _, name := range names(in) {
		limited, err := l.template(alert, in[name])
		if err == nil && limited == in[name] {
			continue
		}
		if !copied {
			out, copied, wrong = maps.Clone(in), true, map[string]error{}
		}
		if err != nil {
			wrong[name] = err
		} else {
			out[name] = limited
		}
	}
	return out, wrong
}

// template returns a template with limited queries. A text that is not a template is returned unchanged.
//
// Errors: an argument that is not constant, or not PromQL, or too expensive.
func (l *limiter) template(alert, text string) (string, error) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, queryFunction) || templatecost.Blocks(text) != nil {
		return text, nil // checkTemplate reports too many blocks
	}
	// The template has the same name as in checkTemplate and in Prometheus: a text that defines another template of this
	// name is invalid.
	tree := parse.New(templatePrefix + alert)
	tree.Mode = parse.SkipFuncCheck
	all := map[string]*parse.Tree{}
	if _, err := tree.Parse(prelude+text, "{{", "}}", all); err != nil {
		return text, nil // checkTemplate fails, too
	}
	var found queryFinder
	for _, t := range all {
		found.node(t.Root)
	}
	if found.other {
		return text, errNotConstant
	}
	slices.SortFunc(found.constants, func(a, b *parse.StringNode) int { return cmp.Compare(a.Pos, b.Pos) })
	var out strings.Builder
	rest := 0
	for _, constant := range found.constants {
		limited, err := l.expr(constant.Text)
		if err != nil {
			return text, fmt.Errorf("%s: %w", queryFunction, err)
		}
		at := int(constant.Pos) - len(prelude)
		out.WriteString(text[rest:at])
		out.WriteString(strconv.Quote(limited))
		rest = at + len(constant.Quoted)
	}
	out.WriteString(text[rest:])
	return out.String(), nil
}

func (l *limiter) expr(text string) (string, error) {
	if err := l.spent.affordable(text); err != nil {
		return "", err
	}
	expr, err := l.parser.ParseExpr(text)
	if err != nil {
		return "", err
	}
	if _, err := limit(expr, l.must); err != nil {
		return "", err
	}
	return expr.String(), nil
}

// MalformedQuery returns the first constant query of a template that is not PromQL of any version, with the reason; nil if
// there is none, or if the template cannot be parsed. Prometheus accepts the template, and writes an error instead of the text
// when the alert fires.
func MalformedQuery(text string) (query string, err error) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, queryFunction) || templatecost.Blocks(text) != nil {
		return "", nil
	}
	tree := parse.New(templatePrefix)
	tree.Mode = parse.SkipFuncCheck
	all := map[string]*parse.Tree{}
	if _, err := tree.Parse(prelude+text, "{{", "}}", all); err != nil {
		return "", nil
	}
	var found queryFinder
	for _, t := range all {
		found.node(t.Root)
	}
	slices.SortFunc(found.constants, func(a, b *parse.StringNode) int { return cmp.Compare(a.Pos, b.Pos) })
	promQL := parser.NewParser(AllPromQL())
	var spent effort
	for _, constant := range found.constants {
		if spent.affordable(constant.Text) != nil {
			return "", nil
		}
		if _, err := promQL.ParseExpr(constant.Text); err != nil {
			return constant.Quoted, meantSyntax(err, constant.Text)
		}
	}
	return "", nil
}

// MalformedSelector returns why a text is no selector of series in any version; nil if it is one, or too expensive to check.
func MalformedSelector(text string) error {
	if new(effort).affordable(text) != nil {
		return nil
	}
	if _, err := parser.NewParser(AllPromQL()).ParseMetricSelector(text); err != nil {
		return meantSyntax(err, text)
	}
	return nil
}

// queryFinder collects the queries of a template.
type queryFinder struct {
	constants []*parse.StringNode // arguments
	other     bool                // there are queries with another argument
}

func (f *queryFinder) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil { // no else
			return
		}
		for _, child := range n.Nodes {
			f.node(child)
		}
	case *parse.ActionNode:
		f.pipe(n.Pipe)
	case *parse.IfNode:
		f.branch(&n.BranchNode)
	case *parse.RangeNode:
		f.branch(&n.BranchNode)
	case *parse.WithNode:
		f.branch(&n.BranchNode)
	case *parse.TemplateNode:
		f.pipe(n.Pipe)
	case *parse.PipeNode:
		f.pipe(n)
	case *parse.ChainNode:
		f.node(n.Node)
	case *parse.IdentifierNode:
		f.other = f.other || n.Ident == queryFunction
	}
}

func (f *queryFinder) branch(n *parse.BranchNode) {
	f.pipe(n.Pipe)
	f.node(n.List)
	f.node(n.ElseList)
}

func (f *queryFinder) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for i, command := range p.Cmds {
		args := command.Args
		if constant := constantQuery(p, i); constant != nil {
			f.constants = append(f.constants, constant)
			args = args[1:]
		}
		for _, arg := range args {
			f.node(arg)
		}
	}
}

// constantQuery returns the argument of the command of a pipeline if it is a query of a constant: `query "up"`, or
// `"up" | query`.
func constantQuery(p *parse.PipeNode, i int) *parse.StringNode {
	args := p.Cmds[i].Args
	if name, is := args[0].(*parse.IdentifierNode); !is || name.Ident != queryFunction {
		return nil
	}
	var of []parse.Node
	switch {
	case i == 0:
		of = args[1:]
	case i == 1 && len(args) == 1:
		of = p.Cmds[0].Args
	}
	if len(of) != 1 {
		return nil
	}
	constant, _ := of[0].(*parse.StringNode)
	return constant
}
