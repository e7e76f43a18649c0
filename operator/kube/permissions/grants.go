package permissions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is one verb on one resource, restricted to one object if Name is set.
type Grant struct{ Group, Resource, Name, Verb string }

// String formats the grant for messages: "get secrets", "get leases.coordination.k8s.io
// prometheus-operator".
func (g Grant) String() string {
	out := g.Verb + " " + g.Resource
	if g.Group != "" {
		out += "." + g.Group
	}
	return strings.TrimSpace(out + " " + g.Name)
}

// Grants expands rules into single grants, deduplicated and sorted.
func Grants(rules []rbacv1.PolicyRule) []Grant {
	seen := map[Grant]bool{}
	for _, r := range rules {
		for _, g := range grantsOf(r) {
			seen[g] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Grant) int { return strings.Compare(a.String(), b.String()) })
}

// grantsOf expands a rule.
func grantsOf(r rbacv1.PolicyRule) []Grant {
	out := []Grant{{}}
	// expand replaces each grant by one for each value.
	expand := func(values []string, set func(g *Grant, value string)) {
		var all []Grant
		for _, g := range out {
			for _, value := range values {
				set(&g, value)
				all = append(all, g)
			}
		}
		out = all
	}
	expand(r.APIGroups, func(g *Grant, v string) { g.Group = v })
	expand(r.Resources, func(g *Grant, v string) { g.Resource = v })
	expand(r.Verbs, func(g *Grant, v string) { g.Verb = v })
	if len(r.ResourceNames) > 0 {
		expand(r.ResourceNames, func(g *Grant, v string) { g.Name = v })
	}
	return out
}

// Rules returns the rules of the features for which of returns true.
func Rules(of func(Feature) bool) (out []rbacv1.PolicyRule) {
	for _, f := range features() {
		if of(f) {
			out = append(out, f.Rules...)
		}
	}
	return out
}

// table renders the features as a Markdown table for the documentation.
func table() string {
	var out strings.Builder
	out.WriteString("| feature | needed with | permissions | where | without them |\n|---|---|---|---|---|\n")
	for _, f := range features() {
		var rules []string
		for _, r := range f.Rules {
			text := strings.Join(r.Verbs, ", ") + " `" + strings.Join(r.Resources, "`, `") + "`"
			if r.APIGroups[0] != "" {
				text += " (" + r.APIGroups[0] + ")"
			}
			if len(r.ResourceNames) > 0 {
				text += " named `" + strings.Join(r.ResourceNames, "`, `") + "`"
			}
			rules = append(rules, text)
		}
		when := f.When
		if when == "" {
			when = "always"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", f.Name, when, strings.Join(rules, "; "), f.Place, f.Cost)
	}
	return out.String()
}
