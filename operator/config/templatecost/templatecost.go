// Package templatecost bounds what the templates of one AlertmanagerConfig cost Alertmanager, and those of a PrometheusRule
// cost Prometheus. Neither limits the time of templates, nor the length of their output: {{ range 4000000000 }}x{{ end }}
// exhausts the memory of the server that all tenants share.
//
//	b := templatecost.ForReceivers() // of one object
//	b.Next(name)                     // before the templates of each receiver
//	err := b.Add(text)               // a text that may be a template
//
// A template is executed with sizes instead of values, for data of several [size]s: many alerts, alerts with many labels, and
// alerts with long values. Loops over alerts and labels cost what their body costs, times the number of elements. The limit
// is a constant plus a multiple of the memory of the data, so a template may list everything about the alerts several times,
// but its output may not grow with the square of their number, nor without any alerts at all.
//
// Templates that a text does not define itself belong to Alertmanager or to the owner of the Alertmanager object, and are
// trusted.
package templatecost

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// Errors of [Budget.Add].
var (
	// ErrExceeded means that templates may produce too much text, or take too much time.
	ErrExceeded = errors.New("the template may produce far more text than the alerts have: use fewer nested loops, variables that grow in loops, and widths of numbers")
	// ErrNested means that a template is too expensive to parse.
	ErrNested = fmt.Errorf("a template with more than %d blocks (if, else, range, with, define, block) and variables: use several fields or objects", budget.TemplateBlocks)
	// ErrRecursive means that a template calls itself.
	ErrRecursive = errors.New("a template calls itself")
	// ErrPattern means that a regular expression is not known before there is an alert.
	ErrPattern = errors.New("the regular expression of match or reReplaceAll must be text of the template, not of an alert")
	// ErrFormat means that a format is not known before there is an alert.
	ErrFormat = errors.New("the format of printf must be text of the template, not of an alert")
)

// Budget is the cost of the templates of one object: an AlertmanagerConfig, or a PrometheusRule.
type Budget struct {
	program  func(size, int) *language
	sizes    [4]size
	name     int    // length of the name of the receiver, rounded up
	own      string // the name of the templates themselves
	data     [len(costs{})]*language
	spent    costs
	constant int // spent by all templates, without any data of alerts
	nodes    int // visited by the analysis
	known    map[template]costs
}

// ForReceivers returns the budget of an AlertmanagerConfig. The sizes make different products expensive: alerts by alerts,
// labels by labels, long values, and a long value by labels.
func ForReceivers() *Budget { return newBudget(notification, 10_000) }

// ForAlerts returns the budget of a PrometheusRule. Prometheus executes a template once for each alert, so the elements are
// results of queries.
func ForAlerts() *Budget { return newBudget(alert, 300) }

// newBudget returns a budget for data of up to a number of elements.
func newBudget(program func(size, int) *language, elements int) *Budget {
	return &Budget{program: program, known: map[template]costs{}, sizes: [...]size{
		{elements: elements, labels: 10, text: 32, long: 32},
		{elements: 2, labels: 1_000, text: 32, long: 32},
		{elements: 2, labels: 10, text: 100_000, long: 100_000},
		{elements: 1, labels: 100, text: 32, long: 20_000},
	}}
}

// template is a template of a receiver whose name has a certain length, or of an alert.
type template struct {
	text, own string
	name      int
}

// costs are the costs for nothing and for each size.
type costs [5]int

// NextAlert begins the next alert. The templates of an alert have a name, so they can call themselves.
func (b *Budget) NextAlert(name string) {
	b.Next("")
	b.own = name
}

// Next begins the next receiver, whose name is part of the data of templates.
func (b *Budget) Next(name string) {
	b.spent = costs{}
	if length := len(name)&^1023 + 1024; length != b.name {
		b.name = length
		for i, s := range append([]size{nothing}, b.sizes[:]...) {
			b.data[i] = b.program(s, b.name)
		}
	}
}

// Blocks rejects a text with too many blocks and variables. The parser needs more than a kilobyte of stack for each level of
// blocks, and compares each use of a variable with all declared ones. Strings within actions count, too.
func Blocks(text string) error {
	blocks := strings.Count(text, ":=")
	for {
		_, after, found := strings.Cut(text, "{{")
		if blocks > budget.TemplateBlocks {
			return ErrNested
		}
		if !found {
			return nil
		}
		text = after
		action := strings.TrimLeft(strings.TrimPrefix(after, "-"), " \t\r\n")
		for _, keyword := range []string{"if", "else", "range", "with", "define", "block"} {
			if strings.HasPrefix(action, keyword) {
				blocks++
			}
		}
	}
}

// Add adds the cost of a text of the current receiver or alert. A text that cannot be parsed costs nothing,
// because it is not executed.
func (b *Budget) Add(text string) error {
	if !strings.Contains(text, "{{") {
		return nil
	}
	if err := Blocks(text); err != nil {
		return err
	}
	key := template{text, b.own, b.name}
	cost, known := b.known[key]
	if !known {
		var err error
		if cost, err = b.cost(text); err != nil {
			return err
		}
		b.known[key] = cost
	}
	return b.spend(cost)
}

// cost returns the cost of a text, or why it is too high.
func (b *Budget) cost(text string) (out costs, err error) {
	root, trees := parsed(b.own, text)
	if root == nil {
		return out, nil
	}
	for i, l := range b.data {
		e := execution{budget: b, language: l, trees: trees, calls: []string{b.own}, limit: l.bytes + l.memory*budget.TemplateGrowth}
		if err := e.run(root); err != nil {
			return out, err
		}
		out[i] = e.spent
	}
	return out, nil
}

func (b *Budget) spend(cost costs) error {
	for i, l := range b.data {
		if b.spent[i] += cost[i]; b.spent[i] > budget.TemplateBytes+l.memory*budget.ReceiverGrowth {
			return ErrExceeded
		}
	}
	if b.constant += cost[0]; b.constant > budget.TemplatesBytes {
		return ErrExceeded
	}
	return nil
}

// parsed returns a text and the templates that it defines, or nil if it is no template. own: the name of the text itself.
func parsed(own, text string) (*parse.ListNode, map[string]*parse.Tree) {
	tree, trees := parse.New(own), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck // the set of functions depends on the version
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, nil
	}
	return tree.Root, trees
}
