package manifest

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// walker compares a decoded document with a Go type, up to [budget.DocumentFaults].
type walker struct {
	faults []*FieldError
	newer  bool    // ignore unknown fields
	around []level // the objects around the value, from the outermost on
}

// level is an object on the way to a value.
type level struct {
	path string
	of   reflect.Type
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value compares one value. Null is allowed everywhere, as in the API.
func (w *walker) value(path string, v any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		if opaque(t) {
			w.opaque(path, v, t.Elem())
			return
		}
		t = t.Elem()
	}
	if opaque(reflect.PointerTo(t)) {
		w.opaque(path, v, t)
		return
	}
	if v == nil || len(w.faults) >= budget.DocumentFaults {
		return
	}
	want := wanted(t)
	if want == "" {
		return
	}
	if kindOf(v) != want || !inRange(v, t) {
		w.faults = append(w.faults, &FieldError{Path: path, Reason: misfit(v, t), Type: t, Value: v})
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		w.object(path, v.(map[string]any), t)
	case reflect.Map:
		m := v.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			w.value(child(path, key), m[key], t.Elem())
		}
	case reflect.Slice, reflect.Array:
		if list, ok := v.([]any); ok {
			for i, item := range list {
				w.value(path+"["+strconv.Itoa(i)+"]", item, t.Elem())
			}
		}
	}
}

// opaque lets a type that reads itself try. Its error may have the value in it.
func (w *walker) opaque(path string, v any, t reflect.Type) {
	text, err := json.Marshal(v)
	if v == nil || err != nil || !largeQuantity(text, t) && json.Unmarshal(text, reflect.New(t).Interface()) == nil {
		return
	}
	w.faults = append(w.faults, &FieldError{Path: path, Reason: misfit(v, t), Type: t, Value: v})
}

const unknownField = "unknown field"

func (w *walker) object(path string, v map[string]any, t reflect.Type) {
	known := jsonfields.Of(t)
	w.around = append(w.around, level{path, t})
	defer func() { w.around = w.around[:len(w.around)-1] }()
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field, ok := known[name]
		switch {
		case len(w.faults) >= budget.DocumentFaults:
			return
		case !ok && w.newer:
			continue
		case !ok:
			fault := &FieldError{Path: child(path, name), Reason: unknownField, Type: t, Value: v[name], Suggestion: closest(name, v, known)}
			if fault.Suggestion == "" || Distance(strings.ToLower(name), strings.ToLower(fault.Suggestion)) > 1 {
				fault.Elsewhere, field = elsewhere(name, w.around)
			}
			w.faults = append(w.faults, fault)
			if fault.Elsewhere == "" && fault.Suggestion != "" {
				field = known[fault.Suggestion]
			}
			if field != nil {
				w.value(fault.Path, v[name], field) // what is wrong in it will be wrong there as well
			}
			continue
		}
		w.value(child(path, name), v[name], field)
	}
}

// opaque types read themselves; what they accept is theirs.
func opaque(pointer reflect.Type) bool {
	return pointer.Implements(jsonUnmarshaler) || pointer.Implements(textUnmarshaler)
}

// child is the path of a field; a name that would read like several is quoted.
func child(path, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, ".[] \t\n\""):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// HasField reports whether a struct, or what embeds it, has a field of a name in JSON.
func HasField(t reflect.Type, name string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, has := jsonfields.Of(t)[name]
	return has
}
