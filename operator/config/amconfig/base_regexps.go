package amconfig

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// matcherKeys are the configuration keys that hold matchers as text, one or a list.
var matcherKeys = map[string]bool{"matchers": true, "source_matchers": true, "target_matchers": true}

// regexpKeys are the configuration keys that map label names to regular expressions.
var regexpKeys = map[string]bool{"match_re": true, "source_match_re": true, "target_match_re": true}

// CheckRegexps bounds the regular expressions of a document before the loader compiles them: of one that a user supplies, or of
// a whole configuration, whose AlertmanagerConfigs are within the budget of one object each and may be thousands.
//
// Errors: [regexcost.ErrExceeded] and others for which [regexcost.IsTooMuch] is true, with the line.
func CheckRegexps(n *yaml.Node, budget *regexcost.Budget) error {
	if n == nil {
		return nil
	}
	for i, child := range n.Content {
		check := CheckRegexps
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			switch key := n.Content[i-1].Value; {
			case matcherKeys[key]:
				check = eachScalar(matcherRegexps)
			case regexpKeys[key]:
				check = eachScalar(func(text string) iter.Seq[string] { return slices.Values([]string{text}) })
			}
		}
		if err := check(child, budget); err != nil {
			return err
		}
	}
	return nil
}

// eachScalar returns a function that charges the expressions of all scalars below a node, including keys, one after
// another, until the budget is exceeded.
func eachScalar(expressions func(text string) iter.Seq[string]) func(*yaml.Node, *regexcost.Budget) error {
	var walk func(n *yaml.Node, budget *regexcost.Budget) error
	walk = func(n *yaml.Node, budget *regexcost.Budget) error {
		if n.Kind == yaml.ScalarNode {
			for text := range expressions(n.Value) {
				if err := budget.ChargeText("^(?:" + text + ")$"); err != nil {
					return fmt.Errorf("line %d: %w", n.Line, err)
				}
			}
		}
		for _, child := range n.Content {
			if err := walk(child, budget); err != nil {
				return err
			}
		}
		return nil
	}
	return walk
}

// classicEscapes are the escapes of Alertmanager's classic parser of matchers.
var classicEscapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// matcherRegexps yields the regular expressions in the text of matchers, `a=~"x|y", b!~z`, in each
// way that one of Alertmanager's parsers may read them: quoted, up to a comma, up to the end.
func matcherRegexps(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := true; more; {
			before, after, found := strings.Cut(text, "~")
			if !found {
				return
			}
			text = after
			if !strings.HasSuffix(before, "=") && !strings.HasSuffix(before, "!") {
				continue
			}
			value := strings.TrimLeft(after, " \t\r\n")
			if quoted, err := strconv.QuotedPrefix(value); err == nil && quoted[0] == '"' {
				if plain, err := strconv.Unquote(quoted); err == nil {
					text, more = value[len(quoted):], yield(plain)
					continue
				}
			}
			value = classicEscapes.Replace(value)
			first, _, several := strings.Cut(value, ",")
			more = yield(strings.TrimRight(first, "} ")) && (!several || yield(strings.TrimRight(value, "} ")))
		}
	}
}
