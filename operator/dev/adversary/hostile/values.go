package hostile

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
)

// maker generates one object.
type maker struct {
	*Source
	rng   *rand.Rand
	index int
	kind  *kind
	with  []Manifest
}

func oneOf[T any](m *maker, all ...T) T { return all[m.rng.IntN(len(all))] }

// extreme returns a value at or beyond the limits that a decoder expects.
func (m *maker) extreme(s *schema) any {
	switch {
	case len(s.Enum) > 0:
		var v any
		if json.Unmarshal(s.Enum[m.rng.IntN(len(s.Enum))].Raw, &v) == nil {
			return v
		}
	case s.XIntOrString:
		return m.intOrString(s)
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && len(s.Properties) == 0, s.Type == "":
		return m.anything(1 + m.rng.IntN(4))
	}
	switch s.Type {
	case "integer":
		return m.integer(s)
	case "number":
		return oneOf[any](m, 0.0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, int64(3000000000), int64(math.MinInt64))
	case "boolean":
		return m.rng.IntN(2) == 0
	case "string":
		return m.text(s)
	case "array":
		return m.list(s)
	default:
		return m.object(s)
	}
}

func (m *maker) integer(s *schema) any {
	all := []int64{0, 1, -1, 65535, 65536, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt32 - 1, 3000000000, math.MaxInt64, math.MinInt64}
	if s.Minimum != nil {
		all = append(all, int64(*s.Minimum), int64(*s.Minimum))
	}
	if s.Maximum != nil {
		all = append(all, int64(*s.Maximum), int64(*s.Maximum))
	}
	var fit []int64
	for _, n := range all {
		if (s.Minimum == nil || float64(n) >= *s.Minimum) && (s.Maximum == nil || float64(n) <= *s.Maximum) && (s.Format != "int32" || m.wide() || int64(int32(n)) == n) {
			fit = append(fit, n)
		}
	}
	if len(fit) == 0 {
		return int64(0)
	}
	return fit[m.rng.IntN(len(fit))]
}

// wide reports whether to generate values that the Go type cannot hold.
func (m *maker) wide() bool { return m.rng.IntN(4) == 0 }

func (m *maker) intOrString(s *schema) any {
	if s.Pattern != "" {
		return oneOf[any](m, "1e1.5", "0", "-1", "+.5", "999999999999999999999999E", "1n", "0.000000000000000001n", "1e999999999", "-9e-999999", "1e99", "12345678901234567890123456789", int64(0), int64(math.MaxInt64), int64(-1))
	}
	return oneOf[any](m, int64(0), int64(-1), int64(65535), int64(65536), int64(3000000000), int64(-3000000000), int64(math.MaxInt64), "", "0", "-1", "65536",
		"99999999999999999999", "http", strings.Repeat("9", 5000), m.oddString())
}

// list returns an empty list or one with items as small as possible.
func (m *maker) list(s *schema) any {
	count := oneOf(m, 0, 1, 2, 50, 1000)
	if s.MaxItems != nil {
		count = min(oneOf(m, count, int(*s.MaxItems)), int(*s.MaxItems))
	}
	if s.MinItems != nil {
		count = max(count, int(*s.MinItems))
	}
	return m.items(s, count)
}

func (m *maker) items(s *schema, count int) []any {
	out := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return out
	}
	var distinct bool
	if s.XListType != nil {
		distinct = *s.XListType != "atomic"
	}
	for i := range count {
		item := sample.Value(m.rng, 0, s.Items.Schema)
		if distinct {
			item = numbered(s, item, i)
		}
		out = append(out, item)
	}
	return out
}

// numbered makes the items of a set or map distinct.
func numbered(s *schema, item any, i int) any {
	object, ok := item.(map[string]any)
	if !ok {
		if _, text := item.(string); text {
			return fmt.Sprintf("%v%d", item, i)
		}
		return int64(i)
	}
	for _, key := range s.XListMapKeys {
		switch object[key].(type) {
		case string, nil:
			object[key] = fmt.Sprintf("k%d", i)
		default:
			object[key] = int64(i + 1)
		}
	}
	return object
}

func (m *maker) object(s *schema) any {
	if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
		return sample.Value(m.rng, oneOf(m, 0, 0.3, 1), s)
	}
	out := map[string]any{}
	for range oneOf(m, 0, 1, 3, 300) {
		out[m.key()] = m.extreme(s.AdditionalProperties.Schema)
	}
	return out
}

// key returns a map key.
func (m *maker) key() string {
	if m.rng.IntN(3) > 0 {
		return fmt.Sprintf("key%d", m.rng.IntN(1000))
	}
	return oneOf(m, "", " ", "\n", "a b", "__name__", "__address__", "é", "\x00", "a\u202eb", "$(HOME)", "{{ . }}", strings.Repeat("k", 3000), "null", "~", "0", "-", "a: b", "..", "job")
}

// anything returns a value for a schema without a type.
func (m *maker) anything(depth int) any {
	if depth == 0 {
		return oneOf[any](m, nil, true, int64(math.MaxInt64), 1e300, "", m.oddString(), []any{}, map[string]any{})
	}
	if m.rng.IntN(3) == 0 {
		list := []any{}
		for range oneOf(m, 0, 1, 20) {
			list = append(list, m.anything(depth-1))
		}
		return list
	}
	out := map[string]any{}
	for range oneOf(m, 0, 1, 6) {
		key := oneOf(m, "receiver", "Receiver", "RECEIVER", "routes", "Routes", "matchers", "continue", "groupBy", "regex", "muteTimeIntervals", m.key())
		out[key] = m.anything(depth - 1)
	}
	return out
}
