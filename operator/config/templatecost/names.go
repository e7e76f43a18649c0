package templatecost

import (
	"iter"
	"slices"
	"strings"
	"text/template/parse"
)

// Defines returns the names of the templates that a file defines. known is false if it cannot be parsed, or if that is too
// expensive.
func Defines(file string) (names []string, known bool) {
	if Blocks(file) != nil {
		return nil, false
	}
	root, trees := parsed("", file)
	for name := range trees {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, root != nil
}

// Calls returns the names of the templates that a text calls and does not define, sorted; none if it cannot be parsed, or if
// that is too expensive.
func Calls(text string) (names []string) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, "template") || Blocks(text) != nil {
		return nil
	}
	root, trees := parsed("", text)
	if root == nil {
		return nil
	}
	lists := []*parse.ListNode{root}
	for name, tree := range trees {
		if name != "" {
			lists = append(lists, tree.Root)
		}
	}
	for _, list := range lists {
		for call := range callsIn(list) {
			if trees[call.Name] == nil {
				names = append(names, call.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// callsIn yields the calls of templates in a list and below it, which is nested no deeper than [Blocks] allows.
func callsIn(list *parse.ListNode) iter.Seq[*parse.TemplateNode] {
	return func(yield func(*parse.TemplateNode) bool) { walkCalls(list, yield) }
}

func walkCalls(list *parse.ListNode, yield func(*parse.TemplateNode) bool) bool {
	if list == nil {
		return true
	}
	below := func(b *parse.BranchNode) bool { return walkCalls(b.List, yield) && walkCalls(b.ElseList, yield) }
	for _, n := range list.Nodes {
		more := true
		switch n := n.(type) {
		case *parse.TemplateNode:
			more = yield(n)
		case *parse.IfNode:
			more = below(&n.BranchNode)
		case *parse.WithNode:
			more = below(&n.BranchNode)
		case *parse.RangeNode:
			more = below(&n.BranchNode)
		}
		if !more {
			return false
		}
	}
	return true
}
