package hostile

import (
	"fmt"
	"strings"
)

// groupWith returns a PrometheusRule with one group.
func (m *maker) groupWith(rules ...any) Manifest {
	group := map[string]any{"name": oneOf(m, "g", m.oddString()+"g", strings.Repeat("g", 2000)), "rules": rules}
	return m.shell(map[string]any{"groups": []any{group}})
}

// promQL returns expressions that are deep, long or full of unknown names.
func (m *maker) promQL() Manifest {
	n := oneOf(m, 50, 1000, 20000)
	expr := oneOf(m,
		strings.Repeat("(", n)+"up"+strings.Repeat(")", n),
		strings.Repeat("-", n)+"1",
		"up"+strings.Repeat(" + up", n),
		strings.Repeat("sum(", n)+"up"+strings.Repeat(")", n),
		strings.Repeat("raet(", n)+"up"+strings.Repeat(")", n),
		strings.Repeat("x", n*20)+"(up)",
		"rat"+strings.Repeat("e", n*20)+"(up[5m])",
		"sum by ("+strings.Repeat("a,", n)+"b) (up)",
		"up{"+strings.Repeat(`a="b",`, n)+"}",
		`up{a=~"`+strings.Repeat("(a|b)*", n)+`"}`,
		fmt.Sprintf("up{a=~%q}", m.expensive()),
		"up[1y]"+strings.Repeat(" offset 1y", n),
		"rate(up["+strings.Repeat("9", n)+"y])",
		"max_over_time("+strings.Repeat("max_over_time(", n/10)+"up[1m:]"+strings.Repeat(")[1m:])", n/10)+"[1m:])",
		"1e"+strings.Repeat("9", n), strings.Repeat("9", n), "0x"+strings.Repeat("f", n),
		strings.Repeat("\n", n)+"up", strings.Repeat("# c\n", n)+"up",
		`"`+strings.Repeat("a", n)+`"`, "{__name__=~\".+\"}", "up @ "+strings.Repeat("1", n), `label_replace(up, "a", "$1", "b", "`+strings.Repeat(".*", n/2)+`")`,
		"up "+strings.Repeat("and on() group_left() up ", n), strings.Repeat("a or ", n)+"b",
	)
	rule := map[string]any{"record": "a:b", "expr": expr}
	if m.rng.IntN(2) == 0 {
		rule = map[string]any{"alert": "A", "expr": expr, "for": "5m"}
	}
	copies := []any{}
	for range max(1, min(oneOf(m, 1, 1, 50), stored/(len(expr)+40))) {
		copies = append(copies, rule)
	}
	return m.groupWith(copies...)
}

// manyRules returns many small groups or rules.
func (m *maker) manyRules() Manifest {
	rule := map[string]any{"record": "a:b", "expr": oneOf(m, "1", "up", "raet(up[5m])", "(")}
	count := oneOf(m, 200, 3000, 25000)
	if m.rng.IntN(2) == 0 {
		rules := []any{}
		for i := range count {
			rule := Clone(rule)
			rule["record"] = fmt.Sprintf("a:b%d", i)
			rules = append(rules, rule)
		}
		return m.groupWith(rules...)
	}
	groups := []any{}
	for i := range count / 2 {
		groups = append(groups, map[string]any{"name": fmt.Sprintf("g%d", i), "rules": []any{rule}})
	}
	return m.shell(map[string]any{"groups": groups})
}

// templateText returns a template that is deep, long or does not terminate.
func (m *maker) templateText() string {
	n := oneOf(m, 10, 1000, 10000)
	return oneOf(m,
		strings.Repeat("{{ if true }}", n)+strings.Repeat("{{ end }}", n),
		strings.Repeat("{{ range . }}", min(n, 1000))+"x"+strings.Repeat("{{ end }}", min(n, 1000)),
		"{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
		"{{ range query \"up\" }}{{ . }}{{ end }}", "{{ range 4000000000 }}x{{ end }}", "{{ .Labels.a"+strings.Repeat(" | js", min(n, 100))+" }}",
		"{{ printf \"%999999999d\" 1 }}", "{{ printf \"%[999999999]d\" 1 }}",
		"{{ "+strings.Repeat("(", n)+"1"+strings.Repeat(")", n)+" }}",
		"{{ $labels."+strings.Repeat("a", n)+" }}", "{{ reReplaceAll \""+"(a|b)*"+"\" \"x\" .Value }}",
		"{{ .Value | "+strings.Repeat("humanize | ", n)+"humanize }}", strings.Repeat("{{/*", n), strings.Repeat("{{ $x := 1 }}", n),
		"{{ range $i, $e := (index (stringSlice \"a\") 0) }}{{ end }}", "{{ call . }}", "{{ js 1 }}{{ html 2 }}{{ slice \"abc\" 9 }}", "{{ index . 1 2 3 }}", "{{ len 3 }}")
}

// ruleTemplates returns a rule with such templates in annotations and labels.
func (m *maker) ruleTemplates() Manifest {
	rules := []any{}
	for range oneOf(m, 1, 10) {
		rules = append(rules, map[string]any{
			"alert": "A", "expr": "up == 0",
			"annotations": map[string]any{"summary": m.templateText(), m.key(): m.templateText()},
			"labels":      map[string]any{"severity": m.templateText()},
		})
	}
	return m.groupWith(rules...)
}
