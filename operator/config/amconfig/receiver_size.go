package amconfig

import (
	"reflect"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// count adds the size of the texts of an entry to that of the object, and returns an
// error if it exceeds the limit, before anything is written: entries share the value of a
// Secret, but each is written with a copy.
//
// entry: a pointer to a struct.
func (c *compiler) count(entry any) error {
	if c.size += textBytes(reflect.ValueOf(entry)); c.size > budget.GeneratedBytes {
		return errGenerated
	}
	return nil
}

// textBytes returns the total length of all strings below v.
func textBytes(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			return textBytes(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += textBytes(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += textBytes(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			n += textBytes(key) + textBytes(value)
		}
	}
	return n
}
