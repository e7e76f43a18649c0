package amconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// A Secret cannot make the loader compile more regular expressions than the budget of one
// object, in any notation.
func TestBaseRegexpsAreBounded(t *testing.T) {
	const route = "receivers: [{name: a}]\nroute:\n  receiver: a\n  routes:\n"
	huge := `\pL{990}`
	for name, text := range map[string]string{
		"matchers":            route + many("  - matchers: ['a=~\""+strings.ReplaceAll(huge, `\`, `\\`)+"\"']\n"),
		"matchers as a text":  route + many("  - matchers: '{a=~\""+strings.ReplaceAll(huge, `\`, `\\`)+"\", b=\"x\"}'\n"),
		"matchers, unquoted":  route + many(`  - matchers: ["a !~ \\pL{990}"]`+"\n"),
		"several in one":      route + many("  - matchers: ['a=\"x~\",b=~\"x\",c=~\""+strings.ReplaceAll(huge, `\`, `\\`)+"\"']\n"),
		"match_re":            route + many("  - match_re: {a: '"+huge+"'}\n"),
		"match_re by alias":   "x: &x {a: '" + huge + "'}\n" + route + many("  - match_re: *x\n"),
		"inhibition":          route + "inhibit_rules:\n" + many("- source_matchers: ['a=~\""+strings.ReplaceAll(huge, `\`, `\\`)+"\"']\n"),
		"inhibition by label": route + "inhibit_rules:\n" + many("- target_match_re: {a: '"+huge+"'}\n"),
		"many in one text":    route + "  - matchers: '" + strings.Repeat("a=~(", 20_000) + "'\n",
		"many words":          route + "  - matchers: '" + strings.Repeat("a=~b,", 50_000) + "'\n",
		"one with many nodes": route + "  - match_re: {a: '" + strings.Repeat(".", 500_000) + "'}\n",
	} {
		budgettest.AtMost(t, name, 64<<20, func() {
			if _, err := parseBase([]byte(text), gate.Target{}, dialect{true, true}); !regexcost.IsTooMuch(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func many(line string) string { return strings.Repeat(line, 1000) }

// The expressions in matchers are found in any notation.
func TestMatcherRegexps(t *testing.T) {
	for text, want := range map[string][]string{
		`a=~"b"`:                 {"b"},
		`a=~"b\\.c",d!~"e"`:      {`b\.c`, "e"},
		`{a = "x=~y", b!~"(c)"}`: {`y"`, `y", b!~"(c)"`, "(c)"}, // finding too many is harmless
		`a=~b\\.c`:               {`b\.c`},
		`a=~b,c=~d`:              {"b", "b,c=~d", "d"},
		`a="b"`:                  nil,
		`~`:                      nil,
	} {
		if got := slices.Collect(matcherRegexps(text)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
