package rules

import (
	"slices"
	"strings"
	"sync"
	"text/template/parse"

	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/features"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// prelude declares the variables available to every alert template. It precedes the text
// on the same line, so that line numbers are correct.
const prelude = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}" +
	"{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// checkTemplate reports whether a target with these functions can parse the text as a
// template of the alert. It calls Go's template parser directly, because Prometheus'
// expander builds a table of thirty functions for each text only to look up their names.
func checkTemplate(alert, text string, functions map[string]any) error {
	if simpleTemplate(text, functions) {
		return nil
	}
	if err := templatecost.Blocks(text); err != nil {
		return err
	}
	_, err := parse.Parse(templatePrefix+alert, prelude+text, "{{", "}}", functions)
	return err
}

// dataFields are the fields of the data that the templates of alerts have.
var dataFields = []string{"Labels", "ExternalLabels", "ExternalURL", "Value"}

// UnknownFields returns the first fields of a template that the data of alerts does not have. Prometheus
// accepts the template, and writes an error instead of the text when the alert fires.
func UnknownFields(text string) []string {
	if !strings.Contains(text, "{{") || templatecost.Blocks(text) != nil {
		return nil
	}
	tree := parse.New("alert")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(prelude+text, "{{", "}}", map[string]*parse.Tree{}); err != nil {
		return nil // reported as an invalid template
	}
	var f fieldFinder
	f.list(tree.Root)
	return f.unknown
}

// fieldFinder collects the unknown fields of the data in a template, outside blocks that replace the
// data by something else.
type fieldFinder struct{ unknown []string }

func (f *fieldFinder) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		f.node(n)
	}
}

func (f *fieldFinder) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ActionNode:
		f.pipe(n.Pipe)
	case *parse.IfNode:
		f.pipe(n.Pipe)
		f.list(n.List)
		f.list(n.ElseList)
	case *parse.RangeNode: // its list has other data
		f.pipe(n.Pipe)
		f.list(n.ElseList)
	case *parse.WithNode:
		f.pipe(n.Pipe)
		f.list(n.ElseList)
	case *parse.PipeNode:
		f.pipe(n)
	case *parse.FieldNode:
		if len(f.unknown) < budget.Faults && !slices.Contains(dataFields, n.Ident[0]) && !slices.Contains(f.unknown, n.Ident[0]) {
			f.unknown = append(f.unknown, n.Ident[0])
		}
	}
}

func (f *fieldFinder) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, command := range p.Cmds {
		for _, arg := range command.Args {
			f.node(arg)
		}
	}
}

// templatePrefix precedes the name of an alert in the name of its templates, as in Prometheus.
const templatePrefix = "__alert_"

// templateReason returns an error of [checkTemplate] without the name of the template, and without
// the line if it is the first.
func templateReason(alert string, err error) string {
	text := strings.TrimPrefix(err.Error(), "template: "+templatePrefix+alert+":")
	if line, reason, ok := strings.Cut(text, ": "); ok && line == "1" {
		return reason
	}
	return "line " + text
}

// templateFunctions returns the functions available to a template: those of Prometheus, as
// registered by the library, and those of text/template.
var templateFunctions = sync.OnceValue(func() map[string]any {
	known := functionNames{
		"and": true, "call": true, "html": true, "index": true, "js": true, "len": true, "not": true,
		"or": true, "print": true, "printf": true, "println": true, "slice": true, "urlquery": true,
		"eq": true, "ge": true, "gt": true, "le": true, "lt": true, "ne": true,
	}
	template.RegisterFeatures(known)
	return known
})

// functionNames is a features.Collector that only keeps names. The parser accepts any
// value that is not nil.
type functionNames map[string]any

// Enable adds a template function.
func (f functionNames) Enable(category, name string) { f.Set(category, name, true) }

// Disable is a no-op, because a missing name is unknown.
func (f functionNames) Disable(string, string) {}

// Set adds a template function.
func (f functionNames) Set(category, name string, enabled bool) {
	if enabled && category == features.TemplatingFunctions {
		f[name] = true
	}
}

// Get implements the interface and is never called.
func (f functionNames) Get() map[string]map[string]bool { return nil }
