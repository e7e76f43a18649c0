package templatecost

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"
	"text/template/parse"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// callable are the functions of Alertmanager, for the parser.
var callable = sync.OnceValue(func() texttemplate.FuncMap {
	out := texttemplate.FuncMap{}
	for name := range notificationFunctions {
		out[name] = func(...any) any { return nil }
	}
	return out
})

// Malformed returns why Alertmanager cannot expand a text of a receiver, which it finds out with the first notification: the
// text cannot be parsed, calls a function that does not exist, or reads a field that notifications and alerts do not have. It
// returns nil if Alertmanager can expand the text, or if the check is too expensive.
func Malformed(text string) error {
	if !strings.Contains(text, "{{") || Blocks(text) != nil {
		return nil
	}
	parsed, err := texttemplate.New("").Funcs(callable()).Parse(text)
	if err != nil {
		_, reason, _ := strings.Cut(strings.TrimPrefix(err.Error(), "template: :"), ": ") // after the line
		if reason == "unexpected EOF" {
			reason = "it ends within a block; write {{ end }} there"
		}
		return errors.New(reason)
	}
	trees := map[string]*parse.Tree{}
	for _, t := range parsed.Templates() {
		trees[t.Name()] = t.Tree
	}
	b := ForReceivers()
	b.Next("")
	var unknown error
	e := execution{budget: b, language: b.data[0], trees: trees, calls: []string{""}, limit: budget.TemplateBytes}
	e.missing = func(v *value, field string) {
		if unknown != nil {
			return
		}
		unknown = fmt.Errorf("%s have no field .%s%s", v.of, field, manifest.Beside(field, slices.Sorted(maps.Keys(v.fields))))
	}
	if err := e.run(parsed.Root); err != nil {
		return nil // rejected
	}
	return unknown
}
