package templatecost

import (
	"strings"
	"text/template/parse"
)

// pipe evaluates a pipeline and declares or assigns its variables.
func (e *execution) pipe(dot *value, p *parse.PipeNode) *value {
	if p == nil || e.err != nil {
		return &value{}
	}
	var v *value
	for _, c := range p.Cmds {
		v = e.command(dot, c, v)
	}
	if v.depth > mostDepth {
		e.fail(ErrExceeded)
	}
	for _, d := range p.Decl {
		if p.IsAssign {
			e.assign(d.Ident[0], v)
		} else {
			e.vars = append(e.vars, variable{d.Ident[0], v})
		}
	}
	return v
}

// command evaluates a command; last is the result of the previous command of the pipeline, or nil.
func (e *execution) command(dot *value, c *parse.CommandNode, last *value) *value {
	e.visit()
	if f, is := c.Args[0].(*parse.IdentifierNode); is {
		return e.function(f.Ident, e.args(dot, c.Args[1:], last))
	}
	v := e.arg(dot, c.Args[0])
	args := e.args(dot, c.Args[1:], last)
	if len(args) == 0 || v.elem != nil {
		return v
	}
	grown := v.copied() // a method with arguments, such as the layout of a time
	grown.bytes = plus(v.bytes, times(sum(args), dateGrowth))
	return e.produced(grown)
}

func (e *execution) args(dot *value, nodes []parse.Node, last *value) (out []*value) {
	for _, n := range nodes {
		out = append(out, e.arg(dot, n))
	}
	if last != nil {
		out = append(out, last)
	}
	return out
}

// arg evaluates an argument.
func (e *execution) arg(dot *value, n parse.Node) *value {
	if e.err != nil {
		return &value{}
	}
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return e.fields(dot, n.Ident)
	case *parse.VariableNode:
		return e.fields(e.variable(n.Ident[0]), n.Ident[1:])
	case *parse.ChainNode:
		return e.fields(e.arg(dot, n.Node), n.Field)
	case *parse.PipeNode:
		return e.pipe(dot, n)
	case *parse.IdentifierNode:
		return e.function(n.Ident, nil)
	case *parse.StringNode:
		return &value{bytes: len(n.Text), count: len(n.Text), text: &n.Text}
	case *parse.NumberNode:
		return number(n)
	}
	return textOf(len("false")) // a boolean or nil
}

func number(n *parse.NumberNode) *value {
	v := &value{bytes: len(n.Text) + shortText}
	switch {
	case n.IsInt:
		v.count = int(max(n.Int64, 0))
	case n.IsUint:
		v.count = endless.count
	}
	return v
}

// fields evaluates .A.B.C. Methods return copies, which cost a step for each element.
func (e *execution) fields(v *value, names []string) *value {
	for _, name := range names {
		if v.of != "" && v.fields[name] == nil && e.missing != nil {
			e.missing(v, name)
		}
		v = v.field(name)
		if strings.Contains(" Firing Resolved SortedPairs Names Values Remove ", " "+name+" ") {
			e.spend(v.count)
		}
	}
	return v
}

func (e *execution) variable(name string) *value {
	for i := len(e.vars) - 1; i >= 0; i-- {
		if e.vars[i].name == name {
			return e.vars[i].value
		}
	}
	return &value{}
}

// function evaluates a function. Those of later versions of the programs are expected to return text.
func (e *execution) function(name string, args []*value) *value {
	for _, known := range []map[string]function{e.language.functions, builtins} {
		if f := known[name]; f != nil {
			return f(e, args)
		}
	}
	return text(otherGrowth, shortText)(e, args)
}
