// Package jsonfields finds the fields of struct types by the names that they have in JSON.
package jsonfields

import (
	"reflect"
	"strings"
	"sync"
)

var cache sync.Map // reflect.Type → map[string]reflect.Type

// Of returns the types of the fields of a struct by their names in JSON, those of
// embedded structs included. The map is shared: it must not be changed.
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
