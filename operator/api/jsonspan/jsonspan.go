// Package jsonspan finds parts of a JSON document in place. It does not allocate, so that
// lengths and counts of any document can be checked before decoding.
//
//	spec := jsonspan.Get(raw, "spec")
//	n := jsonspan.Weighty(spec)
//
// Documents must be valid (json.Valid). For an invalid document, results are missing or wrong,
// but there is no panic.
package jsonspan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// Members calls each for the members of an object, in order, until it returns false. It is a
// no-op for values that are not objects.
func Members(raw []byte, each func(name string, value []byte) bool) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return
	}
	for i = space(raw, i+1); i < len(raw) && raw[i] == '"'; i = space(raw, i+1) {
		end := value(raw, i)
		name := raw[i:end]
		if i = space(raw, end); i >= len(raw) || raw[i] != ':' {
			return
		}
		i = space(raw, i+1)
		end = value(raw, i)
		if !each(unquote(name), raw[i:end]) {
			return
		}
		if i = space(raw, end); i >= len(raw) || raw[i] != ',' {
			return
		}
	}
}

// Elements calls each for the elements of an array, in order, until it returns false. It is a
// no-op for values that are not arrays.
func Elements(raw []byte, each func(value []byte) bool) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return
	}
	for i = space(raw, i+1); i < len(raw) && raw[i] != ']'; i = space(raw, i+1) {
		end := value(raw, i)
		if end == i || !each(raw[i:end]) {
			return
		}
		if i = space(raw, end); i >= len(raw) || raw[i] != ',' {
			return
		}
	}
}

// Get returns the value at a path of names, or nil. For a duplicate name it returns the last
// value, like encoding/json.
func Get(raw []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		Members(raw, func(n string, v []byte) bool {
			if n == name {
				found = v
			}
			return true
		})
		if raw = found; raw == nil {
			return nil
		}
	}
	return raw
}

// Without appends a document to out, with null in place of some values. They must be slices of the document from [Get],
// in any order, but not within each other; nil is ignored.
func Without(out, raw []byte, values ...[]byte) []byte {
	slices.SortFunc(values, func(a, b []byte) int { return cmp.Compare(cap(b), cap(a)) })
	at := 0
	for _, v := range values {
		if v == nil {
			continue
		}
		start := cap(raw) - cap(v) // both end where the array ends
		out = append(append(out, raw[at:start]...), "null"...)
		at = start + len(v)
	}
	return append(out, raw[at:]...)
}

// Count returns the number of elements of an array, at most limit+1.
func Count(raw []byte, limit int) (n int) {
	Elements(raw, func([]byte) bool { n++; return n <= limit })
	return n
}

// Weighty counts the values that may be decoded to a struct: objects, and array elements other
// than strings (null in an array is an empty struct).
func Weighty(raw []byte) (n int) {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = quoted(raw, i) - 1
		case '{':
			n++
		case '[', ',':
			// A number or literal, in an array or elsewhere: in an object a comma is followed
			// by a name.
			if next := space(raw, i+1); next < len(raw) && bytes.IndexByte(plain, raw[next]) >= 0 {
				n++
			}
		}
	}
	return n
}

// plain are the first bytes of numbers and literals.
var plain = []byte("-0123456789ntf")

// space returns the index of the next byte that is not white space.
func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// value returns the index after the value that starts at i.
func value(raw []byte, i int) int {
	if i >= len(raw) {
		return len(raw)
	}
	switch raw[i] {
	case '"':
		return quoted(raw, i)
	case '{', '[':
		for depth := 0; i < len(raw); i++ {
			switch raw[i] {
			case '"':
				i = quoted(raw, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(raw)
	}
	for i < len(raw) && bytes.IndexByte([]byte(",]}: \n\t\r"), raw[i]) < 0 {
		i++
	}
	return i
}

// quoted returns the index after the string that starts at i. Its work grows with its length.
func quoted(raw []byte, i int) int {
	for start := i + 1; ; start++ {
		n := bytes.IndexByte(raw[start:], '"')
		if n < 0 {
			return len(raw)
		}
		start += n
		escapes := 0
		for raw[start-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return start + 1
		}
	}
}

// unquote returns the value of a JSON string.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		var out string
		if json.Unmarshal(quoted, &out) == nil {
			return out
		}
	}
	if len(quoted) < 2 {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}
