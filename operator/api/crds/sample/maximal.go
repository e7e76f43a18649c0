package sample

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// rounds is the maximum number of objects that Maximal generates.
const rounds = 60

// Maximal returns objects that together set every field of spec and status. The first
// sets all fields that can be set together; the others set the remaining ones, because
// fields may exclude each other.
//
// Errors: all fields for which no object was found.
func (g *Generator) Maximal(rng *rand.Rand) ([]map[string]any, error) {
	missing := map[string]bool{}
	for _, path := range g.Paths() {
		missing[path] = true
	}
	var out []map[string]any
	for range rounds {
		object, err := g.object(rng, 1, func(path string) bool { return missing[path] })
		if err != nil {
			return nil, err
		}
		before := len(missing)
		maps.DeleteFunc(missing, func(path string, _ bool) bool { return has(object, strings.Split(path, ".")) })
		if len(missing) < before {
			out = append(out, object)
		}
		if len(missing) == 0 {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s %s: no object sets %s", g.apiVersion, g.kind, strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
}

// Paths returns the fields of spec and status: "spec.endpoints[].interval". The values of
// a map are written as {}.
func (g *Generator) Paths() []string {
	var out []string
	for _, part := range []string{"spec", "status"} {
		if s, ok := g.root.Properties[part]; ok {
			out = append(out, part)
			paths(part, &s, &out)
		}
	}
	return out
}

func paths(at string, s *schema, out *[]string) {
	switch {
	case s.Items != nil && s.Items.Schema != nil:
		paths(at+"[]", s.Items.Schema, out)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		paths(at+"{}", s.AdditionalProperties.Schema, out)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		*out = append(*out, at+"."+name)
		paths(at+"."+name, &p, out)
	}
}

// has reports whether a field is set anywhere in a value.
func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	name := strings.TrimRight(path[0], "[]{}")
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	child, ok := object[name]
	return ok && below(child, path[0][len(name):], path[1:])
}

// below follows the brackets after a name.
func below(v any, brackets string, rest []string) bool {
	if brackets == "" {
		return has(v, rest)
	}
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return below(item, brackets[2:], rest) })
	case map[string]any:
		for _, item := range v {
			if below(item, brackets[2:], rest) {
				return true
			}
		}
	}
	return false
}
