package rules

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
)

// syntaxGate holds the first versions that support a form of expressions. As with functions,
// a target rejects all rule files because of an unsupported one.
type syntaxGate struct {
	what    string // human-readable
	instead string // what to write for older versions
	uses    func(n parser.Node, text string) bool
	token   func(t token) bool // instead of uses
	since
}

// syntaxGates lists the forms that are newer than Prometheus 2.39 and Thanos 0.29 and do not
// need a feature flag. A new form needs a row.
var syntaxGates = [...]syntaxGate{
	{"a quoted name in a selector", "write it without quotes, and the name of the metric before the braces", nil, quotedName, at("2.51.0", "0.36.0")},
	{"a duration as a number", "write the number of seconds", durationAsNumber, nil, at("2.54.0", "0.37.0")},
	{"a number as a duration", "write it with a unit, such as 300s", nil, numberAsDuration, at("2.54.0", "0.37.0")},
	{"a number with underscores", "write it without them", numberWithUnderscores, nil, at("2.54.0", "0.37.0")},
	{"a quoted label in by, on or the like", "write it without quotes", nil, quotedLabel, at("2.55.0", "0.37.0")},
	{"a label in by, on or the like that is no name without quotes", "use labels of letters, digits and underscores", groupsByUTF8, nil, utf8Since},
	{"a histogram trimmed with </ or >/", "", trimmed, nil, at("3.11.0", "0.43.0")},
}

func durationAsNumber(n parser.Node, _ string) bool {
	number, is := n.(*parser.NumberLiteral)
	return is && number.Duration
}

var underscores = lazyregexp.New(`^[0-9a-fA-FxX.]+_[0-9_a-fA-F.]*$`)

func numberWithUnderscores(n parser.Node, text string) bool {
	number, is := n.(*parser.NumberLiteral)
	return is && underscores.MatchString(cut(text, number.PosRange.Start, number.PosRange.End))
}

func groupsByUTF8(n parser.Node, _ string) bool {
	utf8 := func(name string) bool { return !model.LegacyValidation.IsValidLabelName(name) }
	switch n := n.(type) {
	case *parser.AggregateExpr:
		return slices.ContainsFunc(n.Grouping, utf8)
	case *parser.BinaryExpr:
		m := n.VectorMatching
		return m != nil && (slices.ContainsFunc(m.MatchingLabels, utf8) || slices.ContainsFunc(m.Include, utf8))
	}
	return false
}

func trimmed(n parser.Node, _ string) bool {
	b, is := n.(*parser.BinaryExpr)
	return is && (b.Op == parser.TRIM_UPPER || b.Op == parser.TRIM_LOWER)
}

// cut returns a part of an expression. The text may have been modified since it was parsed,
// so it checks the bounds.
func cut[P ~int](text string, start, end P) string {
	if start < 0 || int(end) > len(text) || start > end {
		return ""
	}
	return text[start:end]
}

// syntaxSet is a set of rows of syntaxGates.
type syntaxSet uint8

// syntaxNewerThan returns the forms that version v does not support.
func syntaxNewerThan(v *semver.Version, thanos bool) (set syntaxSet) {
	for i, g := range syntaxGates {
		if v.LessThan(g.of(thanos)) {
			set |= 1 << i
		}
	}
	return set
}

// checkRegexps reports the first regular expression of a selector that the target does not parse.
func (s *Settings) checkRegexps(expr parser.Node) error {
	if s.forms == 0 {
		return nil
	}
	if selector, is := expr.(*parser.VectorSelector); is {
		for _, m := range selector.LabelMatchers {
			if m.Type != labels.MatchRegexp && m.Type != labels.MatchNotRegexp {
				continue
			}
			if err := gosyntax.Selector(s.program, m.Value); err != nil {
				return fmt.Errorf("the regular expression %q: %w", excerpt.Of(m.Value, maxShown), err)
			}
		}
	}
	for child := range parser.ChildrenIter(expr) {
		if err := s.checkRegexps(child); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is the maximum number of bytes of a regular expression in an error.
const maxShown = 80

// checkSyntax reports the first form in an expression that the target does not support.
func (s *Settings) checkSyntax(expr parser.Node, text string) error {
	if s.newer == 0 {
		return nil
	}
	for i, g := range syntaxGates {
		if s.newer&(1<<i) != 0 && g.uses != nil && g.uses(expr, text) {
			instead := ""
			if g.instead != "" {
				instead = "; " + g.instead
			}
			return fmt.Errorf("%s needs >= %s%s", g.what, g.of(s.Thanos), instead)
		}
	}
	for child := range parser.ChildrenIter(expr) {
		if err := s.checkSyntax(child, text); err != nil {
			return err
		}
	}
	return nil
}
