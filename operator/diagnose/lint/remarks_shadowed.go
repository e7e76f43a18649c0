package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// shadowed is the remark about a route behind one that takes all of its alerts.
const shadowed = "no alert gets here, because %s before it takes all that would (%s): set continue: true there if both are to notify, or move this one before it"

// maxShown is the maximum length of the matchers of a route in a remark.
const maxShown = 200

// maxSiblings is how many routes of one parent, and matchers of a route, are compared with those behind them.
const maxSiblings = 50

// siblings are routes of one parent, in their order, that take the alerts that they match.
type siblings []sibling

type sibling struct {
	path     string
	matchers []*labels.Matcher
	says     string // the matchers, as in the file of an Alertmanager
}

// add remembers a route that takes the alerts which match all of its matchers. A route without any is not for it.
func (s *siblings) add(path string, matchers []*labels.Matcher) {
	if len(*s) < maxSiblings && len(matchers) > 0 && len(matchers) < maxSiblings {
		*s = append(*s, sibling{path, matchers, excerpt.Of(listOf(matchers), maxShown)})
	}
}

// shadow returns the remark about a route with these matchers if one before it takes all of its alerts; empty if none does.
func (s *siblings) shadow(matchers []*labels.Matcher) string {
	if len(matchers) > maxSiblings {
		return ""
	}
	for _, before := range *s {
		if !slices.ContainsFunc(before.matchers, func(m *labels.Matcher) bool { return !impliedBy(m, matchers) }) {
			return fmt.Sprintf(shadowed, before.path, before.says)
		}
	}
	return ""
}

// listOf returns matchers as in the file of an Alertmanager.
func listOf(matchers []*labels.Matcher) string {
	var out []string
	for _, m := range matchers {
		out = append(out, m.String())
	}
	return strings.Join(out, ", ")
}

// plainValues matches a regular expression for a few values, which has at most maxPlain characters.
const maxPlain = 1000

var plainValues = lazyregexp.New(`^[\w-]+(\|[\w-]+)*$`)

// impliedBy reports whether labels that match all of others match m, too.
func impliedBy(m *labels.Matcher, others []*labels.Matcher) bool {
	return slices.ContainsFunc(others, func(other *labels.Matcher) bool {
		switch {
		case other.Name != m.Name:
			return false
		case other.Type == m.Type && other.Value == m.Value:
			return true
		case other.Type == labels.MatchEqual:
			return m.Matches(other.Value)
		case other.Type == labels.MatchRegexp && len(other.Value) < maxPlain && plainValues.MatchString(other.Value):
			return !slices.ContainsFunc(strings.Split(other.Value, "|"), func(value string) bool { return !m.Matches(value) })
		}
		return false
	})
}

// matcherTypes are the types of matchers in AlertmanagerConfigs.
var matcherTypes = map[v1alpha1.MatchType]labels.MatchType{
	v1alpha1.MatchEqual: labels.MatchEqual, v1alpha1.MatchNotEqual: labels.MatchNotEqual,
	v1alpha1.MatchRegexp: labels.MatchRegexp, v1alpha1.MatchNotRegexp: labels.MatchNotRegexp,
}

// parsedMatchers returns matchers as Alertmanager has them; nil if one of them is invalid.
func parsedMatchers(of []v1alpha1.Matcher) (out []*labels.Matcher) {
	for _, m := range of {
		kind, known := matcherTypes[m.MatchType]
		if m.Regex && m.MatchType == "" {
			kind = labels.MatchRegexp
		} else if !known && m.MatchType != "" {
			return nil
		}
		parsed, err := labels.NewMatcher(kind, m.Name, m.Value)
		if err != nil {
			return nil
		}
		out = append(out, parsed)
	}
	return out
}

// parsedInFile returns the matchers of a route in the file; nil if one of them cannot be parsed.
func parsedInFile(of []fileMatcher) (out []*labels.Matcher) {
	for _, m := range of {
		if m.matcher == nil {
			return nil
		}
		out = append(out, m.matcher)
	}
	return out
}

// shadowRemarks reports child routes behind one that takes all of their alerts. Those behind one without matchers have a
// remark of their own.
func shadowRemarks(say says, r *route) {
	var before siblings
	for _, child := range r.children {
		matchers := parsedMatchers(child.Matchers)
		if len(child.Matchers) == 0 && !child.Continue {
			return
		}
		if why := before.shadow(matchers); why != "" {
			say(child.path, "%s", why)
		} else if !child.Continue {
			before.add(child.path, matchers)
		}
	}
}
