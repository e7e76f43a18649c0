package manifest

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

var quantity = reflect.TypeFor[resource.Quantity]()

// maxExponent is the largest accepted exponent of a quantity. The range of Kubernetes is 10^-9 to
// 10^19. The decoder of quantities computes the power of ten of any exponent, which a CRD does not
// limit: "1e-999999999" takes hours.
const maxExponent = "100"

var errExponent = errors.New("the exponent of a quantity is too large")

// decode decodes JSON like kjson.UnmarshalCaseSensitivePreserveInts.
//
// Errors: errExponent; those of the decoder.
func decode(raw []byte, into any) error {
	if largeQuantity(raw, reflect.TypeOf(into)) {
		return errExponent
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
}

// largeQuantity reports whether a document has a quantity with a large exponent, in a field of type
// quantity.
func largeQuantity(raw []byte, t reflect.Type) bool {
	if !maybeLarge(raw) {
		return false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case t == quantity:
		return isLarge(raw)
	case jsonfields.Opaque(t):
		return false
	case kind == reflect.Struct && first(raw) == '{', kind == reflect.Map && first(raw) == '{':
		var members map[string]json.RawMessage
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &members) != nil {
			return false // the decoder returns the error
		}
		for name, member := range members {
			of := memberType(t, name)
			if of != nil && largeQuantity(member, of) {
				return true
			}
		}
	case kind == reflect.Slice && first(raw) == '[':
		var items []json.RawMessage
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &items) != nil {
			return false
		}
		for _, item := range items {
			if largeQuantity(item, t.Elem()) {
				return true
			}
		}
	}
	return false
}

// memberType returns the type of a member of an object, or nil if the member is ignored.
func memberType(t reflect.Type, name string) reflect.Type {
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	return jsonfields.Of(t)[name]
}

// maybeLarge reports whether JSON may contain a number with an exponent of three digits. It is a
// fast filter: most documents contain nothing similar.
func maybeLarge(raw []byte) bool {
	for i, b := range raw {
		switch b {
		case 'e', 'E':
			if i > 0 && (digit(raw[i-1]) || raw[i-1] == '.') && manyDigits(raw[i+1:]) {
				return true
			}
		case '\\': // a letter or a digit may be escaped
			if escapesNumber(raw[i+1:]) {
				return true
			}
		}
	}
	return false
}

// escapesNumber reports whether the text after a backslash may be a character of a number. API
// servers escape <, > and &, so rules are full of other escapes.
func escapesNumber(text []byte) bool {
	if len(text) < 5 || text[0] != 'u' || text[1] != '0' || text[2] != '0' {
		return false
	}
	c, err := strconv.ParseUint(string(text[3:5]), 16, 8)
	return err == nil && strings.IndexByte("0123456789eE+-.", byte(c)) >= 0
}

// manyDigits reports whether text begins with an exponent of three or more digits.
func manyDigits(text []byte) bool {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return len(text) > 2 && digit(text[0]) && digit(text[1]) && digit(text[2])
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// isLarge reports whether a value is a quantity with a large exponent.
func isLarge(raw []byte) bool {
	text := string(raw)
	if first(raw) == '"' {
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &text) != nil {
			return false
		}
	}
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return false
	}
	exponent := strings.TrimLeft(strings.TrimLeft(strings.TrimSpace(text[at+1:]), "+-"), "0")
	n := 0
	for n < len(exponent) && digit(exponent[n]) {
		n++
	}
	return n > len(maxExponent) || n == len(maxExponent) && exponent[:n] > maxExponent
}
