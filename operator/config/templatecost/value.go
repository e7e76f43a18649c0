package templatecost

import "math"

// value is a bound on a template value for all alerts of a size. It is immutable.
type value struct {
	bytes   int               // maximum length when printed
	count   int               // maximum number of elements; of a number, its maximum
	elem    *value            // an element in a loop
	fields  map[string]*value // results of fields and methods
	other   *value            // result of fields that are not in fields
	numeric bool              // whether it is a number, whose length does not depend on the format
	text    *string           // the text, if it is part of the template
	depth   int               // levels of lists that the template made
	of      string            // what has no other fields, in the plural; empty if there may be others
}

// endless is a number as large as an int64, for example a time.
var endless = &value{bytes: shortText, count: math.MaxInt}

// moment is a time.
var moment = &value{bytes: shortText, other: endless}

func (v *value) copied() *value { c := *v; return &c }

func textOf(n int) *value { return &value{bytes: n, count: n} }

func numberOf(most int) *value { return &value{bytes: shortText, count: most, numeric: true} }

func listOf(elem *value, n int) *value {
	return &value{bytes: times(elem.bytes+2, n), count: n, elem: elem}
}

// field returns a field, the result of a method, or the value of a key.
func (v *value) field(name string) *value {
	switch f := v.fields[name]; {
	case f != nil:
		return f
	case v.other != nil:
		return v.other
	case v.count == math.MaxInt:
		return endless // a method of a time or duration
	}
	return textOf(v.bytes)
}

// element returns the result of index.
func (v *value) element() *value {
	switch {
	case v.other != nil:
		return v.other
	case v.elem != nil:
		return v.elem
	}
	return numberOf(math.MaxUint8) // of a text
}

// either returns a value that has the larger size of two in every respect.
func either(a, b *value) *value {
	switch {
	case a == nil || b.covers(a) && !a.covers(b):
		return b
	case a.covers(b):
		return a
	}
	out := &value{
		bytes: max(a.bytes, b.bytes), count: max(a.count, b.count), elem: either(a.elem, b.elem),
		other: either(a.other, b.other), depth: max(a.depth, b.depth), numeric: a.numeric && b.numeric, fields: map[string]*value{},
	}
	if a.of == b.of {
		out.of = a.of
	}
	for name, f := range a.fields {
		out.fields[name] = either(f, b.fields[name])
	}
	for name, f := range b.fields {
		if out.fields[name] == nil {
			out.fields[name] = f
		}
	}
	return out
}

// covers reports whether a is at least as large as b in every respect.
func (v *value) covers(b *value) bool {
	switch {
	case v == b || b == nil:
		return true
	case v == nil || v.bytes < b.bytes || v.count < b.count || v.depth < b.depth || !v.elem.covers(b.elem) || !v.other.covers(b.other):
		return false
	case v.text != nil && (b.text == nil || *v.text != *b.text), v.numeric && !b.numeric:
		return false
	}
	for name, f := range b.fields {
		if !v.fields[name].covers(f) {
			return false
		}
	}
	return true
}

// times and plus are saturated.
func times(a, b int) int {
	if a > 0 && b > math.MaxInt/4/a {
		return math.MaxInt / 4
	}
	return a * b
}

func plus(a, b int) int { return min(a, math.MaxInt/4) + min(b, math.MaxInt/4) }
