package hostile

import (
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
)

// slot is a place in a schema.
type slot struct {
	path   []string // "spec", "endpoints", "[]", "port"; "{}" is any key of a map
	schema *schema
}

// maxDepth limits the slots of deep schemas like pod templates.
const maxDepth = 12

// slotsOf lists a schema and all schemas below it.
func slotsOf(s *schema, path []string, into []slot) []slot {
	into = append(into, slot{slices.Clone(path), s})
	if len(path) > maxDepth {
		return into
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child := s.Properties[name]
		into = slotsOf(&child, append(path, name), into)
	}
	if s.Items != nil && s.Items.Schema != nil {
		into = slotsOf(s.Items.Schema, append(path, "[]"), into)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		into = slotsOf(s.AdditionalProperties.Schema, append(path, "{}"), into)
	}
	return into
}

// put sets the value at a place of an object. Missing parents are created, as small as the schema allows.
func (m *maker) put(o Manifest, at slot, value any) {
	m.into(o, m.kind.schema, at.path, value)
}

// into returns the container with the value set at the path.
func (m *maker) into(container any, s *schema, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	next, below := path[0], path[1:]
	switch {
	case next == "[]":
		list, _ := container.([]any)
		at := 0
		if len(list) == 0 {
			list = []any{sample.Value(m.rng, 0, s.Items.Schema)}
		} else {
			at = m.rng.IntN(len(list))
		}
		list[at] = m.into(list[at], s.Items.Schema, below, value)
		return list
	case next == "{}":
		object, _ := container.(map[string]any)
		if object == nil {
			object = map[string]any{}
		}
		key := m.key()
		object[key] = m.into(object[key], s.AdditionalProperties.Schema, below, value)
		return object
	}
	object, ok := container.(map[string]any)
	if !ok {
		object, _ = sample.Value(m.rng, 0, s).(map[string]any)
	}
	child := s.Properties[next]
	object[next] = m.into(object[next], &child, below, value)
	return object
}

// pick returns a random slot that fits. Each depth is equally likely, because most slots are deep in pod templates and
// discoveries.
func (m *maker) pick(fits func(*schema) bool) (slot, bool) {
	byDepth := map[int][]slot{}
	for _, s := range m.kind.slots {
		if fits(s.schema) {
			byDepth[len(s.path)] = append(byDepth[len(s.path)], s)
		}
	}
	if len(byDepth) == 0 {
		return slot{}, false
	}
	depths := slices.Sorted(maps.Keys(byDepth))
	some := byDepth[depths[m.rng.IntN(len(depths))]]
	return some[m.rng.IntN(len(some))], true
}
