// Package fields walks the values of API objects.
//
//	for path, v := range fields.Strings("spec", &object.Spec) {
//		... // spec.receivers[0].name, "team"
//	}
package fields

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// ours is part of the import paths of the API types.
const ours = "/operator/api/monitoring/"

// Strings yields the strings below a value that are not empty, each with its path below root. Fields of an embedded struct
// have the path of that struct. It omits the structs of other packages, such as those of Kubernetes.
//
// root: the path of the value; empty if paths begin with a field of it.
func Strings(root string, value any) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		walk(root, reflect.ValueOf(value), func(path string, v reflect.Value) bool {
			return v.Kind() != reflect.String || v.Len() == 0 || yield(path, v)
		})
	}
}

// Of yields the structs of type T below a value, like [Strings].
func Of[T any](root string, value any) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		walk(root, reflect.ValueOf(value), func(path string, v reflect.Value) bool {
			found, is := v.Interface().(T)
			return !is || yield(path, found)
		})
	}
}

// walk calls yield for the strings and the structs of our API at v and below it, until it returns false.
func walk(path string, v reflect.Value, yield func(string, reflect.Value) bool) bool {
	switch v.Kind() {
	case reflect.String:
		return yield(path, v)
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || walk(path, v.Elem(), yield)
	case reflect.Slice:
		for i := range v.Len() {
			if !walk(faults.Index(path, i), v.Index(i), yield) {
				return false
			}
		}
	case reflect.Map:
		return walkMap(path, v, yield)
	case reflect.Struct:
		return walkStruct(path, v, yield)
	}
	return true
}

func walkStruct(path string, v reflect.Value, yield func(string, reflect.Value) bool) bool {
	if !strings.Contains(v.Type().PkgPath(), ours) {
		return true
	}
	if !yield(path, v) {
		return false
	}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !walk(faults.Join(path, name), v.Field(i), yield) {
			return false
		}
	}
	return true
}

// walkMap walks the values of a map with string keys, in the order of the keys.
func walkMap(path string, v reflect.Value, yield func(string, reflect.Value) bool) bool {
	byKey := map[string]reflect.Value{}
	for key, value := range v.Seq2() {
		byKey[key.String()] = value
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if !walk(faults.Key(path, key), byKey[key], yield) {
			return false
		}
	}
	return true
}
