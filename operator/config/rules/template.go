package rules

import (
	"strings"
	"sync"
	"text/template/parse"

	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/features"
)

// prelude declares the variables available to every alert template. It precedes the text
// on the same line, so that line numbers are correct.
const prelude = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}" +
	"{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// checkTemplate reports whether a target with these functions can parse the text as a
// template of the alert. It calls Go's template parser directly, because Prometheus'
// expander builds a table of thirty functions for each text only to look up their names.
func checkTemplate(alert, text string, functions map[string]any) error {
	if !strings.Contains(text, "{{") {
		return nil
	}
	_, err := parse.Parse(templatePrefix+alert, prelude+text, "{{", "}}", functions)
	return err
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
