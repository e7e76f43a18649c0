package sample

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// repairs is the number of attempts before a schema counts as unsatisfiable.
const repairs = 5000

// repair removes optional fields until the checker accepts the object. Fields in keep are
// only removed if there is no other.
func (g *Generator) repair(rng *rand.Rand, object map[string]any, keep func(string) bool) error {
	if keep == nil {
		keep = func(string) bool { return false }
	}
	for range repairs {
		problems := g.checker.Object(clone(object).(map[string]any))
		if len(problems) == 0 {
			return nil
		}
		slices.SortFunc(problems, func(a, b *field.Error) int { // sorted, because the checker iterates over maps
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Detail, b.Detail))
		})
		touched := map[string]bool{}
		for _, p := range problems {
			if touched[p.Field] { // one removal may fix several
				continue
			}
			touched[p.Field] = true
			if !g.thin(rng, object, p, keep) {
				return fmt.Errorf("cannot satisfy %w", p)
			}
		}
	}
	return fmt.Errorf("still refused after %d repairs", repairs)
}

var pathParts = regexp.MustCompile(`\[([^\]]*)\]|([^.\[\]]+)`)

// step is an object on the path to an error, with the next child on the path.
type step struct {
	object map[string]any
	schema *schema
	path   string // prefix of the field names, "spec.endpoints[]."
	next   string
}

// thin removes one optional field of the innermost object with one on the path to an
// error: a field of the object itself if one of its rules failed, otherwise the field on
// the path to the error.
func (g *Generator) thin(rng *rand.Rand, object map[string]any, p *field.Error, keep func(string) bool) bool {
	trail, end := g.trail(object, p.Field)
	if end != nil {
		if names := mentioned(end.schema, p.Detail); len(names) > 0 {
			if remove(rng, *end, names, keep) {
				return true
			}
		}
	}
	for _, s := range slices.Backward(trail) {
		if s.next != "" && optional(s.schema, s.next) {
			delete(s.object, s.next)
			return true
		}
	}
	return false
}

// remove deletes one of the named fields that is optional.
func remove(rng *rand.Rand, s step, names []string, keep func(string) bool) bool {
	var first, last []string
	for _, name := range names {
		if _, set := s.object[name]; !set || !optional(s.schema, name) {
			continue
		}
		if keep(s.path + name) {
			last = append(last, name)
		} else {
			first = append(first, name)
		}
	}
	if len(first) == 0 {
		first = last
	}
	if len(first) == 0 {
		return false
	}
	delete(s.object, first[rng.IntN(len(first))])
	return true
}

var selfField = regexp.MustCompile(`self\.([a-zA-Z0-9_]+)`)

// mentioned returns the fields in the rule with a message.
func mentioned(s *schema, message string) []string {
	for _, rule := range s.XValidations {
		if rule.Message != message && !(rule.Message == "" && message == "failed rule: "+rule.Rule) {
			continue
		}
		names := map[string]bool{}
		for _, match := range selfField.FindAllStringSubmatch(rule.Rule, -1) {
			names[match[1]] = true
		}
		return slices.Sorted(maps.Keys(names))
	}
	return nil
}

// trail follows a path and returns the objects on it; end is the object at the end of the
// path, if it is one.
func (g *Generator) trail(object map[string]any, path string) (trail []step, end *step) {
	var (
		value any = object
		s         = g.root
		at        = ""
	)
	for _, part := range pathParts.FindAllStringSubmatch(path, -1) {
		switch v := value.(type) {
		case []any:
			i, err := strconv.Atoi(part[1])
			if err != nil || i >= len(v) || s.Items == nil {
				return trail, nil
			}
			value, s, at = v[i], s.Items.Schema, at+"[]"
		case map[string]any:
			name := part[2] + part[1]
			child, known := s.Properties[name]
			here := step{object: v, schema: s, path: prefix(at), next: name}
			trail = append(trail, here)
			value = v[name]
			switch {
			case known:
				s, at = &child, prefix(at)+name
			case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
				s, at = s.AdditionalProperties.Schema, at+"{}"
			default:
				return trail, nil
			}
		default:
			return trail, nil
		}
	}
	if v, ok := value.(map[string]any); ok {
		end = &step{object: v, schema: s, path: prefix(at)}
	}
	return trail, end
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + "."
}

func optional(s *schema, name string) bool {
	if _, known := s.Properties[name]; !known {
		return s.AdditionalProperties != nil
	}
	return !slices.Contains(s.Required, name)
}

// clone returns a deep copy.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[key] = clone(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	default:
		return v
	}
}
