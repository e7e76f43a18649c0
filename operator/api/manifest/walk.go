package manifest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// walker compares a decoded document with a Go type. It reports up to
// [budget.DocumentFaults] errors.
type walker struct {
	faults []*FieldError
	newer  bool    // ignore unknown fields
	around []level // the objects that contain the value, outermost first
}

// level is an object on the path to a value.
type level struct {
	path string
	of   reflect.Type
}

// value checks one value. Null is allowed everywhere, as in the API.
func (w *walker) value(path string, v any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if jsonfields.Opaque(t) {
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
	if KindOf(v) != want || !inRange(v, t) {
		w.faults = append(w.faults, &FieldError{Path: path, Reason: misfit(v, t), Type: t, Value: v})
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		w.object(path, v.(map[string]any), t)
	case reflect.Map:
		m := v.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			w.value(Child(path, key), m[key], t.Elem())
		}
	case reflect.Slice, reflect.Array:
		if text, ok := v.(string); ok { // of bytes
			if _, err := base64.StdEncoding.DecodeString(text); err != nil {
				w.faults = append(w.faults, &FieldError{Path: path, Reason: notBase64, Type: t, Value: v})
			}
		}
		if list, ok := v.([]any); ok {
			for i, item := range list {
				w.value(path+"["+strconv.Itoa(i)+"]", item, t.Elem())
			}
		}
	}
}

// opaque checks a value by unmarshaling it into its type. The error of the type may
// contain the value.
func (w *walker) opaque(path string, v any, t reflect.Type) {
	text, err := json.Marshal(v)
	if v == nil || err != nil || !largeQuantity(text, t) && json.Unmarshal(text, reflect.New(t).Interface()) == nil {
		return
	}
	w.faults = append(w.faults, &FieldError{Path: path, Reason: misfit(v, t), Type: t, Value: v})
}

const (
	unknownField = "unknown field"
	notBase64    = "want base64"
)

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
			fault := &FieldError{Path: Child(path, name), Reason: unknownField, Type: t, Value: v[name], Suggestion: closest(name, v, known)}
			if fault.Suggestion == "" || Distance(strings.ToLower(name), strings.ToLower(fault.Suggestion)) > 1 {
				fault.Elsewhere, field = elsewhere(name, w.around)
			}
			if fault.Suggestion == "" && fault.Elsewhere == "" {
				fault.Hint = alreadySet(name, v, known)
			}
			w.faults = append(w.faults, fault)
			if fault.Elsewhere == "" && fault.Suggestion != "" {
				field = known[fault.Suggestion]
			}
			if field != nil {
				w.value(fault.Path, v[name], field) // errors in it would recur there
			}
			continue
		}
		w.value(Child(path, name), v[name], field)
	}
}

// Child returns the path of a field. An ambiguous name is quoted.
func Child(path, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, ".[] \t\n\""):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// HasField reports whether a struct, including embedded ones, has a field with a JSON
// name.
func HasField(t reflect.Type, name string) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, has := jsonfields.Of(t)[name]
	return has
}
