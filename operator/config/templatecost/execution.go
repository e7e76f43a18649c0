package templatecost

import (
	"math"
	"slices"
	"text/template/parse"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

const (
	// stepBytes is the cost of an executed node, as time, in bytes that take as long to write.
	stepBytes = 4
	// mostDepth is the maximum number of levels of nested lists, far more than a template needs.
	mostDepth = 16
)

// variable is a variable of a template with its possible values.
type variable struct {
	name  string
	value *value
}

// execution executes one text for one group. After an error, everything ends soon.
type execution struct {
	budget   *Budget
	language *language
	trees    map[string]*parse.Tree
	limit    int
	spent    int
	vars     []variable
	calls    []string // templates that are being executed
	err      error
	missing  func(v *value, field string) // optional: is called for fields that do not exist
}

func (e *execution) run(root *parse.ListNode) error {
	e.vars = []variable{{"$", e.language.data}}
	e.list(e.language.data, root)
	return e.err
}

func (e *execution) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *execution) spend(bytes int) {
	if e.spent = plus(e.spent, bytes); e.spent > e.limit {
		e.fail(ErrExceeded)
	}
}

// visit counts a node that is executed.
func (e *execution) visit() {
	if e.budget.nodes++; e.budget.nodes > budget.TemplateNodes {
		e.fail(ErrExceeded)
	}
	e.spend(stepBytes)
}

func (e *execution) list(dot *value, l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		if e.err != nil {
			return
		}
		e.visit()
		e.node(dot, n)
	}
}

func (e *execution) node(dot *value, n parse.Node) {
	switch n := n.(type) {
	case *parse.TextNode:
		e.spend(len(n.Text))
	case *parse.ActionNode:
		v := e.pipe(dot, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			e.spend(times(v.bytes, e.language.escaped))
		}
	case *parse.IfNode:
		e.branch(dot, &n.BranchNode, func(*value) *value { return dot })
	case *parse.WithNode:
		e.branch(dot, &n.BranchNode, func(v *value) *value { return v })
	case *parse.RangeNode:
		e.loop(dot, &n.BranchNode)
	case *parse.TemplateNode:
		e.call(dot, n)
	}
}

// branch executes both branches and continues with the larger values of each.
func (e *execution) branch(dot *value, n *parse.BranchNode, within func(*value) *value) {
	mark := len(e.vars)
	v := e.pipe(dot, n.Pipe)
	e.budget.nodes += len(e.vars) / 8
	before, spent := slices.Clone(e.vars), e.spent
	e.list(within(v), n.List)
	yes, most := e.vars[:mark], e.spent
	e.vars, e.spent = before, spent
	e.list(dot, n.ElseList)
	e.vars, e.spent = joined(e.vars[:mark], yes), max(e.spent, most)
}

// joined returns variables that hold either of two values.
func joined(a, b []variable) []variable {
	out := slices.Clone(a)
	for i := range out {
		out[i].value = either(a[i].value, b[i].value)
	}
	return out
}

// loop executes the body until its variables no longer grow. The remaining iterations cost as much as the last one.
func (e *execution) loop(dot *value, n *parse.BranchNode) {
	mark := len(e.vars)
	v := e.pipe(dot, n.Pipe)
	elem := v.elem
	if elem == nil { // a number, or a text, which is an error
		elem = numberOf(v.count)
	}
	e.element(n.Pipe, elem)
	for i := 0; i < v.count && e.err == nil; i++ {
		before, spent := slices.Clone(e.vars), e.spent
		e.budget.nodes += len(before) / 8
		e.visit()
		e.list(elem, n.List)
		after := joined(before, e.vars[:len(before)]) // the body may end early
		e.vars = after
		if same(before, after) {
			e.spend(times(e.spent-spent, v.count-i-1))
			break
		}
	}
	e.vars = e.vars[:mark]
	e.list(dot, n.ElseList)
}

func same(before, after []variable) bool {
	for i := range before {
		if before[i].value != after[i].value {
			return false
		}
	}
	return true
}

// element sets the variables of a loop: the index, which may be a key, and the element.
func (e *execution) element(p *parse.PipeNode, elem *value) {
	for i, d := range p.Decl {
		v := elem
		if len(p.Decl) == 2 && i == 0 {
			v = either(numberOf(math.MaxInt32), textOf(elem.bytes))
		}
		if p.IsAssign {
			e.assign(d.Ident[0], v)
		} else {
			e.vars[len(e.vars)-len(p.Decl)+i].value = v
		}
	}
}

func (e *execution) assign(name string, v *value) {
	for i := len(e.vars) - 1; i >= 0; i-- {
		if e.vars[i].name == name {
			e.vars[i].value = v
			return
		}
	}
}

// call executes another template.
func (e *execution) call(dot *value, n *parse.TemplateNode) {
	arg := &value{}
	if n.Pipe != nil {
		arg = e.pipe(dot, n.Pipe)
	}
	tree := e.trees[n.Name]
	switch {
	case tree == nil || tree.Root == nil:
		e.spend(others(n.Name, arg))
		return
	case slices.Contains(e.calls, n.Name):
		e.fail(ErrRecursive)
		return
	}
	vars := e.vars
	e.vars, e.calls = []variable{{"$", arg}}, append(e.calls, n.Name)
	e.list(arg, tree.Root)
	e.vars, e.calls = vars, e.calls[:len(e.calls)-1]
}
