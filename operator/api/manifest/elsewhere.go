package manifest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

// elsewhere returns the path of the object that has a field which the innermost level
// does not have: an enclosing object, or one that it contains. Users often indent a block
// too little or too much. path is empty if no object has the field, or if several are
// possible. t is the type of the field there.
func elsewhere(name string, around []level) (path string, t reflect.Type) {
	inner := around[len(around)-1]
	if path, t = below(name, inner, 1); path != "" {
		return path, t
	}
	for i := len(around) - 2; i >= 0; i-- {
		if t, has := jsonfields.Of(around[i].of)[name]; has {
			return around[i].where(), t
		}
	}
	return below(name, inner, deepest)
}

// deepest is the maximum number of levels to search below an object.
const deepest = 2

// below returns the nearest object down to some depth that has the field, if it is the
// only one.
func below(name string, at level, depth int) (path string, t reflect.Type) {
	here := []level{at}
	for range depth {
		var next []level
		for _, l := range here {
			next = append(next, l.children()...)
		}
		var found []string
		for _, l := range next {
			if field, has := jsonfields.Of(l.of)[name]; has {
				found, t = append(found, l.path), field
			}
		}
		switch len(found) {
		case 0:
			here = next
		case 1:
			return found[0], t
		default:
			return "", nil
		}
	}
	return "", nil
}

// children returns the objects that an object contains. Those of a list count as one.
func (l level) children() (out []level) {
	fields := jsonfields.Of(l.of)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t, path := fields[name], Child(l.path, name)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			if t.Kind() == reflect.Slice {
				path += "[]"
			}
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && !jsonfields.Opaque(t) {
			out = append(out, level{path, t})
		}
	}
	return out
}

// TopLevel describes the object itself in [FieldError.Elsewhere].
const TopLevel = "the top level"

// where returns a human-readable path.
func (l level) where() string {
	if l.path == "" {
		return TopLevel
	}
	return l.path
}
