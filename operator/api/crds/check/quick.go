package check

import (
	"math"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// quick recognizes values that are certainly valid. The library takes a hundred times longer, because it builds
// validators for each value; but only it names the fault, and only it supports all of OpenAPI.
type quick struct {
	schema  *spec.Schema
	usual   bool // the schema has only keywords that valid supports
	choice  bool // it is for integers and strings
	enum    map[string]bool
	pattern *regexp.Regexp

	mu    sync.Mutex
	below map[string]*quick // the fields that were used
	item  *quick            // of list items or map values
}

func newQuick(s *spec.Schema) *quick {
	q := &quick{schema: s, usual: usual(s), choice: intOrString(s)}
	if len(s.Enum) > 0 {
		q.enum = map[string]bool{}
		for _, value := range s.Enum {
			text, is := value.(string)
			q.enum[text] = true
			q.usual = q.usual && is
		}
	}
	if s.Pattern != "" {
		var err error
		q.pattern, err = regexp.Compile(s.Pattern)
		q.usual = q.usual && err == nil
	}
	switch {
	case s.Items != nil:
		q.item = newQuick(s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		q.item = newQuick(s.AdditionalProperties.Schema)
	}
	return q
}

// usual reports whether a schema has only the keywords that valid supports.
func usual(s *spec.Schema) bool {
	return s.ID == "" && s.Ref.String() == "" && (len(s.Type) <= 1 && len(s.AnyOf) == 0 || intOrString(s)) && s.MultipleOf == nil && !s.UniqueItems && !s.ExclusiveMaximum && !s.ExclusiveMinimum &&
		s.MaxProperties == nil && s.MinProperties == nil && len(s.AllOf) == 0 && len(s.OneOf) == 0 && s.Not == nil &&
		s.PatternProperties == nil && s.Dependencies == nil && s.AdditionalItems == nil && s.Definitions == nil &&
		(s.Items == nil || s.Items.Schema != nil) && (s.AdditionalProperties == nil || s.AdditionalProperties.Schema != nil && len(s.Properties) == 0)
}

// intOrString reports whether a schema allows exactly the two types of x-kubernetes-int-or-string, as a list and as a choice.
func intOrString(s *spec.Schema) bool {
	both := []string{"integer", "string"}
	if len(s.Type) > 0 && !slices.Equal(s.Type, both) || len(s.AnyOf) != 2 {
		return false
	}
	for i, of := range both {
		one := s.AnyOf[i]
		if len(one.Type) != 1 || one.Type[0] != of {
			return false
		}
		one.Type = nil
		if text, err := one.MarshalJSON(); err != nil || string(text) != "{}" {
			return false
		}
	}
	return true
}

// is reports whether the schema is for values of a type.
func (q *quick) is(of string) bool { return len(q.schema.Type) == 1 && q.schema.Type[0] == of }

// valid reports whether a value is certainly valid.
func (q *quick) valid(value any) bool {
	if !q.usual {
		return false
	}
	switch v := value.(type) {
	case string:
		return (q.choice || q.is("string")) && q.text(v)
	case bool:
		return q.is("boolean") && q.enum == nil
	case int64:
		return (q.choice || q.is("integer")) && q.enum == nil && q.integer(v)
	case []any:
		return q.is("array") && q.enum == nil && q.list(v)
	case map[string]any:
		return q.is("object") && q.enum == nil && q.object(v)
	}
	return false
}

func (q *quick) text(v string) bool {
	s := q.schema
	n := int64(-1)
	if s.MinLength != nil || s.MaxLength != nil {
		n = int64(utf8.RuneCountInString(v))
	}
	return s.Format == "" && (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength) &&
		(q.enum == nil || q.enum[v]) && (q.pattern == nil || q.pattern.MatchString(v))
}

// integer accepts numbers of 32 bits, which all formats have.
func (q *quick) integer(v int64) bool {
	s := q.schema
	return v >= math.MinInt32 && v <= math.MaxInt32 && (s.Minimum == nil || float64(v) >= *s.Minimum) && (s.Maximum == nil || float64(v) <= *s.Maximum)
}

func (q *quick) list(v []any) bool {
	s := q.schema
	if q.item == nil || s.MinItems != nil && int64(len(v)) < *s.MinItems || s.MaxItems != nil && int64(len(v)) > *s.MaxItems {
		return false
	}
	for _, item := range v {
		if !q.item.valid(item) {
			return false
		}
	}
	return true
}

func (q *quick) object(v map[string]any) bool {
	for _, name := range q.schema.Required {
		if _, has := v[name]; !has {
			return false
		}
	}
	for name, value := range v {
		of := q.item
		if of == nil {
			if of = q.field(name); of == nil {
				continue // it is not part of the schema
			}
		}
		if !of.valid(value) {
			return false
		}
	}
	return true
}

func (q *quick) field(name string) *quick {
	q.mu.Lock()
	defer q.mu.Unlock()
	f, known := q.below[name]
	if known {
		return f
	}
	schema, has := q.schema.Properties[name]
	if !has {
		return nil
	}
	if q.below == nil {
		q.below = map[string]*quick{}
	}
	f = newQuick(&schema)
	q.below[name] = f
	return f
}
