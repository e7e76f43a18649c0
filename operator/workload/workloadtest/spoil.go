package workloadtest

import "reflect"

// Spoil overwrites everything that a value points to, so that another result that shares
// memory with it differs.
func Spoil(v any) { spoil(reflect.ValueOf(v)) }

func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				spoil(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString("spoiled")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int32, reflect.Int64:
		v.SetInt(-7)
	}
}
