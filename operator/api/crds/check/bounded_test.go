package check

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const schemaText = `{
  "type": "object",
  "required": ["name"],
  "properties": {
    "name": {"type": "string", "minLength": 1},
    "few": {"type": "array", "minItems": 2, "maxItems": 5, "items": {"type": "string"}},
    "labels": {"type": "object", "maxProperties": 6, "additionalProperties": {"type": "string", "pattern": "^[a-z]+$"}},
    "groups": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "rules"],
      "properties": {
        "name": {"type": "string", "enum": ["a", "b"]},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "rules": {"type": "array", "minItems": 1, "items": {
          "type": "object",
          "required": ["expr"],
          "properties": {
            "expr": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "n": {"type": "integer", "maximum": 3}
          }
        }}
      }
    }}
  }
}`

// odd returns good or a value that may have a wrong type.
func odd(r *rand.Rand, good any) any {
	if r.IntN(5) > 0 {
		return good
	}
	return []any{"", "B", int64(7), true, map[string]any{"a": int64(1)}, []any{int64(1), "a"}, nil}[r.IntN(7)]
}

func list(r *rand.Rand, make func() any) any {
	out := []any{}
	for range r.IntN(8) {
		out = append(out, odd(r, make()))
	}
	return odd(r, out)
}

func object(r *rand.Rand, fields map[string]func() any) any {
	out := map[string]any{}
	for name, make := range fields {
		if r.IntN(6) > 0 {
			out[name] = odd(r, make())
		}
	}
	return out
}

func word(r *rand.Rand) func() any {
	return func() any { return string(rune('a' + r.IntN(3))) }
}

func random(r *rand.Rand) any {
	labels := func() any {
		return object(r, map[string]func() any{"a": word(r), "b": word(r), "c.d/e": word(r), "f": word(r), "g": word(r), "h": word(r), "i": word(r), "j": word(r)})
	}
	rule := func() any {
		return object(r, map[string]func() any{"expr": word(r), "labels": labels, "n": func() any { return int64(r.IntN(5)) }})
	}
	group := func() any {
		return object(r, map[string]func() any{"name": word(r), "free": labels, "rules": func() any { return list(r, rule) }})
	}
	return object(r, map[string]func() any{"name": word(r), "labels": labels, "few": func() any { return list(r, word(r)) }, "groups": func() any { return list(r, group) }})
}

// A value that is validated in parts has the same errors as when it is validated as a whole, and none
// if it is known to be valid.
func TestParts(t *testing.T) {
	var schema spec.Schema
	if err := json.Unmarshal([]byte(schemaText), &schema); err != nil {
		t.Fatal(err)
	}
	n := newNode(&schema)
	said := func(all field.ErrorList) string {
		var lines []string
		for _, err := range all {
			line := err.Error()
			if err.Type == field.ErrorTypeTooMany { // the message has the number of items, which is smaller in a part
				line = err.Field + ": " + string(err.Type)
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		return strings.Join(slices.Compact(lines), "\n")
	}
	q := newQuick(&schema)
	wrong, sound := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		value := random(r)
		before, _ := json.Marshal(value)
		want := said(validation.ValidateCustomResource(nil, value, n.valid))
		if sure := q.valid(value); sure && want != "" {
			t.Fatalf("seed %d: taken for valid: %s\n%s", seed, before, want)
		} else if sure {
			sound++
		}
		for _, together := range []int{0, 1, 3, 10} {
			if got := said(n.validate(value, together)); got != want {
				t.Fatalf("seed %d, %d together: %s\ngot\n%s\nwant\n%s", seed, together, before, got, want)
			}
		}
		if want != "" {
			wrong++
		}
		if after, _ := json.Marshal(value); string(after) != string(before) {
			t.Fatalf("the value is changed from %s to %s", before, after)
		}
	}
	if wrong < 500 || wrong == 1000 || sound < (1000-wrong)/2 {
		t.Errorf("%d of 1000 values are wrong, %d are known to be valid", wrong, sound)
	}
}
