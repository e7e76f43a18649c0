package amconfig

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// action is the effect of a [versionRule].
type action uint8

const (
	drop action = iota // remove the key and report it
	fail               // reject the document
)

// versionRule is a rule about one key of a user-supplied document.
type versionRule struct {
	// path is the path of the key from the top: "[]" matches the elements of a list, "*"
	// any key, "HTTP" every HTTP client configuration, "ROUTE" every route.
	path string
	// since is the first version of Alertmanager to which the rule does not apply; ""
	// means that it applies to all versions, which is not allowed for drop.
	since string
	do    action
	// when restricts the rule; nil always applies. parent is the map with the key.
	when func(parent, value *yaml.Node) bool
	// why is the reason for the error, if it is not the version.
	why string
	// classic means that the rule also applies to newer versions in classic mode.
	classic bool
}

// sanitize applies the rules to a document in order.
//
// Errors contain the path of the key and no values.
func sanitize(root *yaml.Node, t gate.Target, labels dialect) (dropped []gate.Dropped, warnings []faults.Finding, err error) {
	for _, r := range versionRules {
		if r.classic && !labels.UTF8 {
			r.since = ""
		}
		lost, err := r.apply(root, t)
		if err != nil {
			return nil, nil, err
		}
		dropped = append(dropped, lost...)
	}
	if t.AtLeast(matchersSince) {
		for _, path := range legacyMatchers {
			for _, s := range follow(site{value: root}, path) {
				warnings = append(warnings, faults.Remark(s.path, "is deprecated, use matchers"))
			}
		}
	}
	for _, s := range follow(site{value: root}, "receivers[].email_configs[].auth_password_file") {
		if textOf(get(s.parent, "auth_password")) != "" {
			warnings = append(warnings, faults.Remark(s.path, "is used, and auth_password beside it is not; other operators leave the file out, so remove one of them before you switch between operators"))
		}
	}
	return dropped, warnings, nil
}

// apply applies one rule, see [sanitize].
func (r *versionRule) apply(root *yaml.Node, t gate.Target) (dropped []gate.Dropped, err error) {
	if r.since != "" && t.AtLeast("alertmanager="+r.since) {
		return nil, nil
	}
	for _, s := range r.sites(root) {
		switch r.do {
		case fail:
			return nil, faults.At(s.path, fmt.Errorf("%s", r.reason(t)))
		case drop:
			remove(s.parent, s.key)
			dropped = append(dropped, gate.Dropped{Path: s.path, Need: ">= " + r.since})
		}
	}
	return dropped, nil
}

func (r *versionRule) reason(t gate.Target) string {
	if r.why != "" {
		return r.why
	}
	return "needs " + t.Needs("alertmanager="+r.since)
}

// site is one match of a path. For an element of a list, key is "".
type site struct {
	path          string
	parent, value *yaml.Node
	key           string
}

// sites returns the matches to which the rule applies. Nulls do not match.
func (r *versionRule) sites(root *yaml.Node) (out []site) {
	for _, path := range r.paths() {
		for _, s := range follow(site{value: root}, path) {
			if r.when == nil || r.when(s.parent, s.value) {
				out = append(out, s)
			}
		}
	}
	return out
}

// paths expands abbreviations.
func (r *versionRule) paths() []string {
	if rest, ok := strings.CutPrefix(r.path, "HTTP"); ok {
		return []string{"global.http_config" + rest, "receivers[].*[].http_config" + rest}
	}
	return []string{r.path}
}

// follow returns the matches of a path relative to from.
func follow(from site, path string) []site {
	step, rest, more := strings.Cut(path, ".")
	name, element := strings.CutSuffix(step, "[]")
	var here []site
	switch name {
	case "ROUTE":
		here = routesOf(site{path: "route", value: get(from.value, "route")}, 0)
	case "*":
		here = children(from)
	default:
		if v := get(from.value, name); v != nil {
			here = []site{{path: faults.Join(from.path, name), parent: from.value, value: v, key: name}}
		}
	}
	var out []site
	for _, s := range here {
		found := []site{s}
		if element {
			found = elements(s)
		}
		for _, s := range found {
			if more {
				out = append(out, follow(s, rest)...)
			} else {
				out = append(out, s)
			}
		}
	}
	return out
}

// children returns the pairs of a map.
func children(from site) (out []site) {
	if from.value.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(from.value.Content); i += 2 {
		key, value := from.value.Content[i].Value, from.value.Content[i+1]
		if !isNull(value) {
			out = append(out, site{path: faults.Join(from.path, key), parent: from.value, value: value, key: key})
		}
	}
	return out
}

// elements returns the elements of the list at s.
func elements(s site) (out []site) {
	if s.value.Kind != yaml.SequenceNode {
		return nil
	}
	for i, v := range s.value.Content {
		if !isNull(v) {
			out = append(out, site{path: fmt.Sprintf("%s[%d]", s.path, i), parent: s.value, value: v})
		}
	}
	return out
}

// routesOf returns a route and all routes below it.
func routesOf(s site, depth int) []site {
	if s.value == nil || depth > maxNodeDepth {
		return nil
	}
	out := []site{s}
	if list := get(s.value, string(Routes)); list != nil {
		for _, child := range elements(site{path: s.path + ".routes", value: list}) {
			out = append(out, routesOf(child, depth+1)...)
		}
	}
	return out
}
