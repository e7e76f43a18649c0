package hostile

import (
	"fmt"
	"strings"
)

// documents makes a workload with a Secret that holds a part of its configuration: thousands of
// expensive regular expressions, aliases that expand, deep trees or text that is not YAML.
func (m *maker) documents() Manifest {
	o := m.base()
	spec, is := o["spec"].(map[string]any)
	if !is {
		return o
	}
	name, key := fmt.Sprintf("document-%d", m.index), "document.yaml"
	ref := map[string]any{"name": name, "key": key}
	var text string
	switch m.kind.name {
	case "Alertmanager":
		key = "alertmanager.yaml"
		spec["configSecret"] = name
		text = m.alertmanagerDocument()
	case "ThanosRuler":
		spec["alertRelabelConfigs"] = ref
		text = m.repeatLine(fmt.Sprintf("- {action: drop, source_labels: [a], regex: %q}\n", m.expensive()))
	default:
		spec["additionalScrapeConfigs"] = ref
		text = m.repeatLine(fmt.Sprintf("- {job_name: a, %s: [{action: drop, source_labels: [a], regex: %q}]}\n",
			oneOf(m, "relabel_configs", "metric_relabel_configs"), m.expensive()))
	}
	if m.rng.IntN(6) == 0 {
		text = m.brokenDocument()
	}
	m.with = append(m.with, Manifest{
		"apiVersion": "v1", "kind": "Secret", "metadata": Manifest{"name": name, "namespace": m.namespace}, "stringData": map[string]any{key: text},
	})
	return o
}

// alertmanagerDocument has expensive matchers in each way to write them.
func (m *maker) alertmanagerDocument() string {
	head := "receivers: [{name: a}]\nroute:\n  receiver: a\n  routes:\n"
	matcher := fmt.Sprintf("a%s%q", oneOf(m, "=~", "!~"), m.expensive())
	line := oneOf(m,
		fmt.Sprintf("  - {matchers: [%q]}\n", matcher),
		fmt.Sprintf("  - {matchers: %q}\n", "{"+matcher+"}"),
		fmt.Sprintf("  - {match_re: {a: %q}}\n", m.expensive()),
	)
	return head + m.repeatLine(line)
}

// brokenDocument is YAML that is expensive or impossible to read.
func (m *maker) brokenDocument() string {
	aliases := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		aliases += fmt.Sprintf("%c: &%[1]c [%s]\n", c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), ", "))
	}
	return oneOf(m, aliases, strings.Repeat("[", 100_000), strings.Repeat("- ", 100_000), strings.Repeat("{a: ", 50_000), m.oddString(), "- "+strings.Repeat("&a *a ", 1000))
}

// repeatLine repeats a line up to once or up to the size of an object that can be stored.
func (m *maker) repeatLine(line string) string {
	return strings.Repeat(line, max(1, oneOf(m, 1, 1000, stored/2)/len(line)))
}
