// Package jsonfields looks up the fields of struct types by their JSON names.
package jsonfields

import (
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
