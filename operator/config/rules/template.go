package rules

import (
	"strings"
	"sync"
	"text/template/parse"

	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/features"
)

// prelude declares the variables every alert template may use; it stands in
// front of the text, on the same line, so that line numbers stay true.
const prelude = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}" +
	"{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// checkTemplate reports whether a target with these functions can parse the text as
// a template of the alert. It asks Go's template parser directly: the way over Prometheus'
// expander builds a table of thirty functions for each text only to look up
// their names.
func checkTemplate(alert, text string, functions map[string]any) error {
	if !strings.Contains(text, "{{") {
		return nil
	}
	_, err := parse.Parse("__alert_"+alert, prelude+text, "{{", "}}", functions)
	return err
}

// templateFunctions are the names a template may call: Prometheus' own, as the
// library reports them, and those text/template brings along.
var templateFunctions = sync.OnceValue(func() map[string]any {
	known := functionNames{
		"and": true, "call": true, "html": true, "index": true, "js": true, "len": true, "not": true,
		"or": true, "print": true, "printf": true, "println": true, "slice": true, "urlquery": true,
		"eq": true, "ge": true, "gt": true, "le": true, "lt": true, "ne": true,
	}
	template.RegisterFeatures(known)
	return known
})

// functionNames is a features.Collector that keeps only names. The parser wants
// any value that is not nil.
type functionNames map[string]any

// Enable adds a template function.
func (f functionNames) Enable(category, name string) { f.Set(category, name, true) }

// Disable does nothing: a name that is not there is unknown.
func (f functionNames) Disable(string, string) {}

// Set adds a template function.
func (f functionNames) Set(category, name string, enabled bool) {
	if enabled && category == features.TemplatingFunctions {
		f[name] = true
	}
}

// Get is part of the interface and never called.
func (f functionNames) Get() map[string]map[string]bool { return nil }
