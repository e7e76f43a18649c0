package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

var (
	// action matches a part of a template that is evaluated.
	action = lazyregexp.New(`(?s)\{\{.*?\}\}`)
	// plainUse matches a variable of alerts in text that is not evaluated.
	plainUse = lazyregexp.New(`\$labels\.\w+|\$\{ *\$?labels\.\w+ *\}|\{ *\$value *\}|\$\{ *value *\}`)
	// chartFields are the fields of the data that templates of Helm charts have.
	chartFields = []string{"Values", "Release", "Chart", "Capabilities", "Files"}
	// integerFormat matches a value that is formatted as an integer.
	integerFormat = lazyregexp.New(`\{\{-?\s*(?:printf\s+"[^"]*%[-+ 0-9]*d[^"]*"\s+(?:\$value|\.Value)|(?:\$value|\.Value)\s*\|\s*printf\s+"[^"]*%[-+ 0-9]*d[^"]*")\s*-?\}\}`)
	// bareValue matches the function value where the variable is meant.
	bareValue = lazyregexp.New(`\{\{-?\s*value\s*(\|[^}]*)?-?\}\}`)
	// ruleFields are fields of rules that are often written below labels.
	ruleFields = []string{"for", "keep_firing_for", "expr"}
)

// templateRemarks reports templates that Prometheus accepts and that do not have the intended
// result when the alert fires.
func templateRemarks(warn, note says, r *v1.PrometheusRule) {
	var executions rules.Executions
	for i, group := range r.Spec.Groups {
		nameTemplate(warn, fmt.Sprintf("spec.groups[%d].name", i), group.Name, "the name of a group")
		for j, rule := range group.Rules {
			path := fmt.Sprintf("spec.groups[%d].rules[%d]", i, j)
			nameTemplate(warn, path+".alert", rule.Alert, "the name of an alert")
			nameTemplate(warn, path+".record", rule.Record, "the name of a recorded metric")
			if rule.Alert == "" {
				for _, key := range slices.Sorted(maps.Keys(rule.Labels)) {
					nameTemplate(warn, path+".labels."+key, rule.Labels[key], "a label of a recording rule")
				}
				continue
			}
			templatesIn(warn, note, path+".annotations", rule.Annotations)
			templatesIn(warn, note, path+".labels", rule.Labels)
			failingTemplates(warn, &executions, path+".annotations", rule.Annotations)
			failingTemplates(warn, &executions, path+".labels", rule.Labels)
			severityRemark(note, path, &rule)
			for _, name := range ruleFields {
				if _, is := rule.Labels[name]; is {
					note(path+".labels."+name, "is a label of the alert here; the field %s belongs beside labels", name)
				}
			}
		}
	}
}

// nameTemplate reports a text of a rule that is written like a template, where Prometheus expands none.
func nameTemplate(warn says, field, text, what string) {
	if used := action.Get().FindString(text); used != "" {
		warn(field, "%s is no template, so %s stays as it is: take it out; only labels and annotations of alerts are expanded", what, used)
	}
}

func templatesIn(warn, note says, path string, texts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		for _, field := range rules.UnknownFields(texts[key]) {
			instead := "use $labels, $value, $externalLabels or $externalURL"
			if slices.Contains(chartFields, field) {
				instead = "charts of Helm have it; check what helm template renders, or " + instead
			} else if meant := manifest.Similar(field, []string{"Labels", "Value", "ExternalLabels", "ExternalURL"}); meant != "" {
				instead = "did you mean ." + meant + "?"
			}
			warn(path+"."+key, ".%s is not in the data of alerts, so the text is an error message when the alert fires: %s", field, instead)
		}
		if query, err := rules.MalformedQuery(texts[key]); err != nil {
			warn(path+"."+key, "query %s is no PromQL, so the text is an error message when the alert fires: %v", query, err)
		}
		if strings.Contains(texts[key], "<no value>") {
			warn(path+"."+key, "<no value> is what a tool such as Helm made of a template that was meant for Prometheus; escape it there: {{ \"{{\" }} $labels.… {{ \"}}\" }}")
		}
		if ofJinja.MatchString(texts[key]) {
			note(path+"."+key, "{%% … %%} is a statement of Jinja, which Prometheus does not have, so that it is a part of the text: leave it out")
		}
		if integerFormat.MatchString(texts[key]) {
			warn(path+"."+key, "$value is a floating-point number, for which %%d writes an error: write %%.0f")
		}
		if bareValue.MatchString(texts[key]) {
			warn(path+"."+key, "value is a function of one argument, so the text is an error message when the alert fires: write $value")
		}
		if use := plainUse.Get().FindString(action.ReplaceAllString(texts[key], "")); use != "" && !helmQuoted.MatchString(texts[key]) {
			note(path+"."+key, "%s is not between {{ and }}, so it is not replaced: write {{ $%s }}", use, strings.Trim(use, "${ }"))
		}
	}
}

// ofJinja matches a statement of Jinja, such as the one around templates of another program.
var ofJinja = lazyregexp.New(`\{%-?\s*(?:end)?(?:raw|if|for)\b`)

// severityRemark reports a severity that is an annotation, which no route of an Alertmanager looks at.
func severityRemark(note says, path string, rule *v1.Rule) {
	for _, key := range slices.Sorted(maps.Keys(rule.Annotations)) {
		if _, is := rule.Labels["severity"]; !is && strings.EqualFold(key, "severity") {
			note(path+".annotations."+key, "is an annotation, and the alert has no label severity: routes, inhibitions and silences of Alertmanager compare labels only; write it below labels")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rule.Labels)) {
		if _, is := rule.Labels["severity"]; !is && strings.EqualFold(key, "severity") {
			note(path+".labels."+key, "names of labels are compared with their case, and the alert has no label severity, which routes and inhibitions usually have: write severity")
		}
	}
}
