package manifest

import (
	"fmt"
	"math"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

// readers describes the input of types that unmarshal themselves. Their own error messages
// may contain the value.
var readers = map[reflect.Type]string{
	reflect.TypeFor[intstr.IntOrString](): "an integer or a string",
	reflect.TypeFor[resource.Quantity]():  "a quantity such as 500m, 2, 50G or 50Gi",
	reflect.TypeFor[metav1.Time]():        "a time such as 2006-01-02T15:04:05Z",
	reflect.TypeFor[metav1.MicroTime]():   "a time such as 2006-01-02T15:04:05.000000Z",
	reflect.TypeFor[metav1.Duration]():    "a duration such as 30s",
}

// misfit returns the reason why a value does not fit a type, without the value, which may be
// a secret.
func misfit(v any, t reflect.Type) string {
	is := KindOf(v)
	want, reads := readers[t]
	switch _, whole := v.(int64); {
	case t == reflect.TypeFor[intstr.IntOrString]() && whole:
		return fmt.Sprintf("want an integer from 0 to %d, or a string", math.MaxInt32)
	case reads && (is == "a string" || whole):
		return "want " + want
	case reads:
		return "want " + want + ", got " + is
	case jsonfields.Opaque(t):
		return "invalid value"
	}
	want = wanted(t)
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		if _, whole := v.(int64); whole {
			bits := t.Bits() - 1
			if least := int64(-1) << bits; bits == 63 {
				return fmt.Sprintf("want an integer from %d to %d", least, uint64(1)<<bits-1)
			}
			// Numbers of pods, seconds and ports: a negative one fits the type and has no meaning.
			return fmt.Sprintf("want an integer from 0 to %d", uint64(1)<<bits-1)
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		if _, whole := v.(int64); whole {
			return fmt.Sprintf("want an integer from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
		}
	}
	if is == want {
		return "invalid value" // such as a number that is too large
	}
	return "want " + want + ", got " + is
}

// inRange reports whether an integer fits into a type. It returns true for other values.
func inRange(v any, t reflect.Type) bool {
	n, whole := v.(int64)
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return !whole || !reflect.Zero(t).OverflowInt(n)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return !whole || n >= 0 && !reflect.Zero(t).OverflowUint(uint64(n))
	}
	return true
}

// wanted returns the name of the kind of value that a type accepts; "" means any.
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

// KindOf describes the type of a decoded JSON value in a message: "an object", "a string".
func KindOf(v any) string {
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
