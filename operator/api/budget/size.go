package budget

import (
	"reflect"
	"time"
)

// Size returns the approximate memory of a decoded object in bytes. It stops counting at most, which limits the cost
// for large objects. An object with a packed spec counts as the whole object.
//
// object: a pointer to a struct.
func Size(object any, most int) int {
	if o, ok := object.(interface{ WholeSize() int }); ok && o.WholeSize() > 0 {
		return min(o.WholeSize(), most)
	}
	left := most
	measure(reflect.ValueOf(object), &left)
	return most - max(left, 0)
}

// measure subtracts from left the memory that a value references, without the value itself.
func measure(v reflect.Value, left *int) {
	if *left <= 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		*left -= v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			*left -= int(v.Elem().Type().Size())
			measure(v.Elem(), left)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return // its time zone is shared by the process, which may be loading it concurrently
		}
		for i := range v.NumField() {
			measure(v.Field(i), left)
		}
	case reflect.Slice:
		*left -= v.Len() * int(v.Type().Elem().Size())
		if flat(v.Type().Elem().Kind()) {
			return
		}
		for i := range v.Len() {
			measure(v.Index(i), left)
		}
	case reflect.Map:
		*left -= v.Len() * int(mapEntry+v.Type().Key().Size()+v.Type().Elem().Size())
		for entry := v.MapRange(); *left > 0 && entry.Next(); {
			measure(entry.Key(), left)
			measure(entry.Value(), left)
		}
	}
}

// flat reports whether values of a kind reference no other memory.
func flat(k reflect.Kind) bool { return k <= reflect.Complex128 }
