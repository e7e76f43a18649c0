package amconfig

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// namespaceLabel is the label that restricts AlertmanagerConfigs to the alerts of their namespace.
const namespaceLabel = "namespace"

// enforces reports whether AlertmanagerConfigs in namespace are restricted to its alerts. An
// unknown strategy counts as the default, which restricts all of them.
func (s *Settings) enforces(namespace string) bool {
	return s.data.Strategy.Limits(s.data.Namespace, namespace)
}

// enforce restricts r to alerts of namespace. Its children only receive alerts that match r.
func (r *Route) enforce(namespace string, d dialect) {
	if d.Matchers {
		r.Matchers = append(slices.Clip(r.Matchers), namespaceMatcher(namespace))
		return
	}
	put(&r.Match, namespaceLabel, namespace)
}

// enforce restricts both sides of r to alerts of namespace.
func (r *InhibitRule) enforce(namespace string, d dialect) {
	delete(r.SourceMatchRE, namespaceLabel)
	delete(r.TargetMatchRE, namespaceLabel)
	if !d.Matchers {
		put(&r.SourceMatch, namespaceLabel, namespace)
		put(&r.TargetMatch, namespaceLabel, namespace)
		return
	}
	for _, list := range []*[]string{&r.SourceMatchers, &r.TargetMatchers} {
		if limit := namespaceMatcher(namespace); !slices.Contains(*list, limit) {
			*list = append(slices.Clip(*list), limit)
		}
	}
}

func namespaceMatcher(namespace string) string {
	return matcherText(namespaceLabel, v1alpha1.MatchEqual, namespace)
}

// prefixed returns a unique name. The result is unambiguous, because namespaces and object
// names contain no slash.
func (c *compiler) prefixed(name string) string { return c.prefix + name }

func (c *compiler) prefixedAll(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, c.prefixed(name))
	}
	return out
}

// maybePrefixed reports whether a name in the base may conflict with a prefixed one.
func maybePrefixed(name string) bool { return strings.Count(name, "/") >= 2 }
