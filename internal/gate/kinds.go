package gate

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

var (
	mapSliceType  = reflect.TypeFor[Node]()
	textsType     = reflect.TypeFor[Texts]()
	versionedType = reflect.TypeFor[Versioned]()
	gatedType     = reflect.TypeFor[Gated]()
)

// newWriter returns the writer of a type, with one case per kind.
func (p *plans) newWriter(t reflect.Type) (writer, error) {
	if t == mapSliceType {
		return p.node(), nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(e *encoder, v reflect.Value, at place) { e.text(v.String(), at) }, nil
	case reflect.Bool:
		return writeBool, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return writeInt, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return writeUint, nil
	case reflect.Float64:
		return writeFloat, nil
	case reflect.Pointer:
		return p.pointer(t), nil
	case reflect.Interface:
		return p.dynamic(), nil
	case reflect.Slice:
		item := listItem{write: p.writerFor(t.Elem()), gated: selfGated(t.Elem())}
		return func(e *encoder, v reflect.Value, at place) { e.list(v, item, at) }, nil
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("gate: type %s: keys must be strings", t)
		}
		item, asLibrary := p.writerFor(t.Elem()), t == textsType
		return func(e *encoder, v reflect.Value, at place) { e.mapping(v, item, asLibrary, at) }, nil
	case reflect.Struct:
		plan, err := p.structPlanFor(t)
		if err != nil {
			return nil, err
		}
		return func(e *encoder, v reflect.Value, at place) { e.structure(plan, v, at) }, nil
	}
	return nil, fmt.Errorf("gate: type %s cannot be written", t)
}

func (p *plans) pointer(t reflect.Type) writer {
	elem := p.writerFor(t.Elem())
	return func(e *encoder, v reflect.Value, at place) {
		if v.IsNil() {
			e.flow("null", at)
			return
		}
		elem(e, v.Elem(), at)
	}
}

// node writes pairs in their order. The library writes them, unless references in them may have to be escaped: then
// keys must be strings.
func (p *plans) node() writer {
	item := p.dynamic()
	return func(e *encoder, v reflect.Value, at place) {
		if e.literal == nil || v.Len() == 0 {
			e.library(v.Interface(), at)
			return
		}
		e.pairs(func(yield func(string, reflect.Value) bool) {
			for i := range v.Len() {
				key, is := v.Index(i).Field(0).Interface().(string)
				if !is {
					e.fail(fmt.Errorf("key %v is not a string", v.Index(i).Field(0)))
				}
				if !is || !yield(key, v.Index(i).Field(1)) {
					return
				}
			}
		}, item, at)
	}
}

func (p *plans) dynamic() writer {
	return func(e *encoder, v reflect.Value, at place) {
		if v.IsNil() {
			e.flow("null", at)
			return
		}
		inner := v.Elem()
		p.writerFor(inner.Type())(e, inner, at)
	}
}

func writeBool(e *encoder, v reflect.Value, at place) {
	if v.Bool() {
		e.flow("true", at)
	} else {
		e.flow("false", at)
	}
}

func writeInt(e *encoder, v reflect.Value, at place) {
	if at.after == aKey {
		e.buf = append(e.buf, ' ')
	}
	e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	e.buf = append(e.buf, '\n')
}

func writeUint(e *encoder, v reflect.Value, at place) {
	if at.after == aKey {
		e.buf = append(e.buf, ' ')
	}
	e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	e.buf = append(e.buf, '\n')
}

func writeFloat(e *encoder, v reflect.Value, at place) {
	switch f := v.Float(); {
	case math.IsInf(f, 1):
		e.flow(".inf", at)
	case math.IsInf(f, -1):
		e.flow("-.inf", at)
	case math.IsNaN(f):
		e.flow(".nan", at)
	default:
		e.flow(strconv.FormatFloat(f, 'g', -1, 64), at)
	}
}

// absent reports whether the value of a field counts as unset.
func absent(v reflect.Value, how emptiness) bool {
	switch how {
	case whenIsNil:
		switch v.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
			return v.IsNil()
		}
		return false
	case whenZero:
		switch v.Kind() {
		case reflect.String, reflect.Slice, reflect.Map:
			return v.Len() == 0
		case reflect.Pointer, reflect.Interface:
			return v.IsNil()
		}
		return v.IsZero()
	}
	return false
}

// needOf returns the need of a value that may gate itself, see [selfGated].
func needOf(v reflect.Value, t Target) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	switch g := v.Interface().(type) {
	case Gated:
		return g.Allowed(t)
	case Versioned:
		if since := mustBounds(g.Since()); !since.reached(t) {
			return since.of(t).need()
		}
	}
	return ""
}

// selfGated reports whether values of the type may gate themselves. It is called once per
// plan and once per list.
func selfGated(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return true
	}
	return t.Implements(versionedType) || t.Implements(gatedType)
}
