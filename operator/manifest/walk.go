package manifest

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// walker compares a decoded document with a Go type.
type walker struct {
	faults []*FieldError
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
	if v == nil {
		return
	}
	want := wanted(t)
	if want == "" {
		return
	}
	if is := kindOf(v); is != want {
		w.faults = append(w.faults, &FieldError{Path: path, Reason: "want " + want + ", got " + is, Type: t, Value: v})
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
	if v == nil || err != nil || json.Unmarshal(text, reflect.New(t).Interface()) == nil {
		return
	}
	reason := "invalid value"
	if t == reflect.TypeFor[intstr.IntOrString]() {
		reason = "want an integer or a string, got " + kindOf(v)
	}
	w.faults = append(w.faults, &FieldError{Path: path, Reason: reason, Type: t, Value: v})
}

const unknownField = "unknown field"

func (w *walker) object(path string, v map[string]any, t reflect.Type) {
	known := fieldsOf(t)
	w.around = append(w.around, level{path, t})
	defer func() { w.around = w.around[:len(w.around)-1] }()
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field, ok := known[name]
		if !ok {
			fault := &FieldError{Path: child(path, name), Reason: unknownField, Type: t, Value: v[name], Suggestion: closest(name, v, known)}
			if fault.Suggestion == "" || distance(strings.ToLower(name), strings.ToLower(fault.Suggestion)) > 1 {
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

// wanted names the kind of value a type takes; "" is any.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // base64
			return "a string"
		}
		return "a list"
	case reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Interface:
		return ""
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int64:
		return "an integer"
	default:
		return "a number"
	}
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

var fieldCache sync.Map // reflect.Type → map[string]reflect.Type

// fieldsOf returns the fields of a struct by their names in JSON, those of
// embedded structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(map[string]reflect.Type)
	}
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name != "":
			out[name] = f.Type
		case f.Anonymous:
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			for inner, typ := range fieldsOf(embedded) {
				if _, ok := out[inner]; !ok {
					out[inner] = typ
				}
			}
		default:
			out[f.Name] = f.Type
		}
	}
	fieldCache.Store(t, out)
	return out
}

// HasField reports whether a struct, or what embeds it, has a field of a name in JSON.
func HasField(t reflect.Type, name string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, has := fieldsOf(t)[name]
	return has
}
