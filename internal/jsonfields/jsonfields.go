// Package jsonfields looks up the fields of struct types by their JSON names, and finds types that decode themselves.
package jsonfields

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

var cache sync.Map // reflect.Type -> map[string]reflect.Type

// Of returns the types of the fields of a struct by JSON name, including those of embedded
// structs. The map is shared and must not be modified.
func Of(t reflect.Type) map[string]reflect.Type {
	if cached, ok := cache.Load(t); ok {
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
			if embedded.Kind() != reflect.Struct {
				out[f.Name] = f.Type
				continue
			}
			for inner, typ := range Of(embedded) {
				if _, ok := out[inner]; !ok {
					out[inner] = typ
				}
			}
		default:
			out[f.Name] = f.Type
		}
	}
	cache.Store(t, out)
	return out
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Opaque reports whether a type decodes itself from JSON or text. Only its code then defines which values are valid.
//
// t: not a pointer.
func Opaque(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(jsonUnmarshaler) || pointer.Implements(textUnmarshaler)
}
