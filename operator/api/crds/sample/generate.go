package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
)

type schema = apiextensionsv1.JSONSchemaProps

// Generator generates objects of one version of one kind.
type Generator struct {
	apiVersion, kind string
	root             *schema
	checker          *check.Checker
}

// New returns a generator.
//
// Errors: those of check.New.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Generator, error) {
	checker, err := check.New(crd, version)
	if err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == version {
			return &Generator{crd.Spec.Group + "/" + version, crd.Spec.Names.Kind, v.Schema.OpenAPIV3Schema, checker}, nil
		}
	}
	return nil, errors.New("unreachable: the checker knows the version")
}

// Object returns an object with a name, a namespace and the fraction density (0 to 1) of
// the optional fields. Numbers are int64 or float64. Defaults are not set.
//
// Errors: a schema that no object satisfies, or whose rules cannot be satisfied by
// removing fields.
func (g *Generator) Object(rng *rand.Rand, density float64) (map[string]any, error) {
	return g.object(rng, density, nil)
}

func (g *Generator) object(rng *rand.Rand, density float64, keep func(path string) bool) (map[string]any, error) {
	m := maker{rng: rng, density: density}
	out := map[string]any{
		"apiVersion": g.apiVersion, "kind": g.kind,
		"metadata": map[string]any{"name": "sample", "namespace": "default"},
	}
	for _, part := range []string{"spec", "status"} {
		if s, ok := g.root.Properties[part]; ok {
			out[part] = m.value(&s)
		}
	}
	if err := g.repair(rng, out, keep); err != nil {
		return nil, fmt.Errorf("%s %s: %w", g.apiVersion, g.kind, err)
	}
	return out, nil
}

// Value returns a value that a schema accepts, apart from its CEL rules, with the
// fraction density of the optional fields.
func Value(rng *rand.Rand, density float64, s *apiextensionsv1.JSONSchemaProps) any {
	return maker{rng: rng, density: density}.value(s)
}

type maker struct {
	rng     *rand.Rand
	density float64
}

// value returns a value that a schema accepts, apart from its CEL rules.
func (m maker) value(s *schema) any {
	switch {
	case len(s.Enum) > 0:
		var v any
		if err := json.Unmarshal(s.Enum[m.rng.IntN(len(s.Enum))].Raw, &v); err != nil {
			panic(err) // the CRD was decoded from JSON
		}
		return v
	case s.XIntOrString:
		return m.intOrString(s)
	}
	switch s.Type {
	case "object":
		return m.fields(s)
	case "array":
		return m.list(s)
	case "string":
		return m.text(s)
	case "boolean":
		return m.rng.IntN(2) == 0
	case "integer":
		return m.whole(s)
	case "number":
		return m.rng.Float64()
	default: // any type
		return map[string]any{"receiver": m.word()}
	}
}

// intOrString returns a quantity if there is a pattern, else a port.
func (m maker) intOrString(s *schema) any {
	switch {
	case m.rng.IntN(2) == 0:
		return int64(m.rng.IntN(1 << 15))
	case s.Pattern != "":
		return []string{"1", "250m", "1.5", "2Gi", "10M", "100k", "1e3"}[m.rng.IntN(7)]
	default:
		return m.word()
	}
}

func (m maker) fields(s *schema) any {
	out := map[string]any{}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for range 1 + m.rng.IntN(2) {
			out[m.word()] = m.value(s.AdditionalProperties.Schema)
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || m.rng.Float64() < m.density {
			p := s.Properties[name]
			out[name] = m.value(&p)
		}
	}
	return out
}

// list returns a list within its bounds. Duplicate items of sets and maps are omitted; no
// list of a CRD requires more than one distinct item.
func (m maker) list(s *schema) any {
	least, most := 1, 2
	if s.MinItems != nil {
		least = max(least, int(*s.MinItems))
	}
	if s.MaxItems != nil {
		most = min(most, int(*s.MaxItems))
	}
	out := []any{}
	for range least + m.rng.IntN(max(most, least)-least+1) {
		item := m.value(s.Items.Schema)
		if !slices.ContainsFunc(out, func(other any) bool { return same(s, item, other) }) {
			out = append(out, item)
		}
	}
	return out
}

// same reports whether two items of a list are duplicates.
func same(s *schema, a, b any) bool {
	if s.XListType == nil || *s.XListType == "atomic" {
		return false
	}
	if *s.XListType == "set" {
		return reflect.DeepEqual(a, b)
	}
	return !slices.ContainsFunc(s.XListMapKeys, func(key string) bool {
		return !reflect.DeepEqual(keyOf(s, a, key), keyOf(s, b, key))
	})
}

// keyOf returns a key of a map item, or its default.
func keyOf(s *schema, item any, key string) any {
	if v, ok := item.(map[string]any)[key]; ok {
		return v
	}
	if d := s.Items.Schema.Properties[key].Default; d != nil {
		var v any
		if err := json.Unmarshal(d.Raw, &v); err == nil {
			return v
		}
	}
	return nil
}

func (m maker) text(s *schema) any {
	least, most := 0, 0
	if s.MinLength != nil {
		least = int(*s.MinLength)
	}
	if s.MaxLength != nil {
		most = int(*s.MaxLength)
	}
	switch {
	case s.Format == "date-time":
		return fmt.Sprintf("2026-%02d-%02dT%02d:00:00Z", 1+m.rng.IntN(12), 1+m.rng.IntN(28), m.rng.IntN(24))
	case s.Pattern != "":
		return matching(m.rng, s.Pattern, least, most)
	}
	return m.word()
}

func (m maker) word() string {
	b := make([]byte, 3+m.rng.IntN(6))
	for i := range b {
		b[i] = letters[m.rng.IntN(26)]
	}
	return string(b)
}

func (m maker) whole(s *schema) any {
	least, most := int64(0), int64(math.MaxInt32)
	if s.Minimum != nil {
		least = int64(math.Ceil(*s.Minimum))
	}
	if s.Maximum != nil {
		most = int64(*s.Maximum)
	}
	switch m.rng.IntN(4) {
	case 0:
		return least
	case 1:
		return most
	default:
		return least + m.rng.Int64N(most-least+1)
	}
}
