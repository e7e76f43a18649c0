package templatecost

import (
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
		eachCall(list, func(called string) {
			if trees[called] == nil {
				names = append(names, called)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// eachCall calls do with the name of each template that is called in a list and below it, which is nested no deeper than
// [Blocks] allows.
func eachCall(list *parse.ListNode, do func(name string)) {
	if list == nil {
		return
	}
	below := func(b *parse.BranchNode) {
		eachCall(b.List, do)
		eachCall(b.ElseList, do)
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TemplateNode:
			do(n.Name)
		case *parse.IfNode:
			below(&n.BranchNode)
		case *parse.WithNode:
			below(&n.BranchNode)
		case *parse.RangeNode:
			below(&n.BranchNode)
		}
	}
}
