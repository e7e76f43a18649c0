package amconfig

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// matcherKeys are the configuration keys that hold matchers as text, one or a list.
var matcherKeys = map[string]bool{"matchers": true, "source_matchers": true, "target_matchers": true}

// regexpKeys are the configuration keys that map label names to regular expressions.
var regexpKeys = map[string]bool{"match_re": true, "source_match_re": true, "target_match_re": true}

// checkBaseRegexps bounds the regular expressions of a user-supplied document before the loader compiles them.
//
// Errors: those for which [regexcost.IsTooMuch] is true, with the line.
func checkBaseRegexps(n *yaml.Node, budget *regexcost.Budget) error {
	if n == nil {
		return nil
	}
	for i, child := range n.Content {
		check := checkBaseRegexps
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			switch key := n.Content[i-1].Value; {
			case matcherKeys[key]:
				check = eachScalar(matcherRegexps)
			case regexpKeys[key]:
				check = eachScalar(func(text string) []string { return []string{text} })
			}
		}
		if err := check(child, budget); err != nil {
			return err
		}
	}
	return nil
}

// eachScalar returns a function that charges the expressions of all scalars below a node.
func eachScalar(expressions func(text string) []string) func(*yaml.Node, *regexcost.Budget) error {
	var walk func(n *yaml.Node, budget *regexcost.Budget) error
	walk = func(n *yaml.Node, budget *regexcost.Budget) error {
		if n.Kind == yaml.ScalarNode {
			for _, text := range expressions(n.Value) {
				if err := budget.Charge("^(?:" + text + ")$"); err != nil {
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

// matcherRegexps returns the regular expressions in the text of matchers, `a=~"x|y", b!~z`, in each
// way that one of Alertmanager's parsers may read them: quoted, up to a comma, up to the end.
func matcherRegexps(text string) (out []string) {
	for {
		at := strings.Index(text, "~")
		if at < 0 {
			return out
		}
		operator := at > 0 && (text[at-1] == '=' || text[at-1] == '!')
		text = text[at+1:]
		if !operator {
			continue
		}
		value := strings.TrimLeft(text, " \t\r\n")
		if quoted, err := strconv.QuotedPrefix(value); err == nil && quoted[0] == '"' {
			if plain, err := strconv.Unquote(quoted); err == nil {
				out = append(out, plain)
				text = value[len(quoted):]
				continue
			}
		}
		value = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(value)
		first, _, more := strings.Cut(value, ",")
		out = append(out, strings.TrimRight(first, "} "))
		if more {
			out = append(out, strings.TrimRight(value, "} "))
		}
	}
}
