package manifest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

// elsewhere is the path of the object that has a field which the innermost of some levels
// does not have: one around it, or one that it holds. People indent a block too little or
// too much. It is empty when no object has the field, or several might be meant. t is the
// type of the field there.
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

// deepest is how many levels too high a field is looked for.
const deepest = 2

// below is the only object down to some depth with the field, the nearest one.
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

// children are the objects that an object holds; those of a list count as one.
func (l level) children() (out []level) {
	fields := jsonfields.Of(l.of)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t, path := fields[name], child(l.path, name)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			if t.Kind() == reflect.Slice {
				path += "[]"
			}
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && !opaque(reflect.PointerTo(t)) {
			out = append(out, level{path, t})
		}
	}
	return out
}

// where is the path for people.
func (l level) where() string {
	if l.path == "" {
		return "the top level"
	}
	return l.path
}
