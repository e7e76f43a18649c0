package budget

import (
	"bytes"
	"reflect"
	"strings"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

// shape holds what the scanner needs of a type.
type shape struct {
	kind    reflect.Kind
	size    int                     // bytes of a value, without what it references
	opaque  bool                    // the type decodes itself, or what a pointer points to does
	element reflect.Type            // of a pointer, map or slice
	entry   int                     // bytes of an entry of a map, without what key and value reference
	fields  map[string]reflect.Type // of a struct
	limit   int                     // maximum number of such elements in all lists; 0: none
}

var shapes sync.Map // reflect.Type -> *shape

func shapeOf(t reflect.Type) *shape {
	if cached, ok := shapes.Load(t); ok {
		return cached.(*shape)
	}
	s := &shape{kind: t.Kind(), size: int(t.Size()), opaque: jsonfields.Opaque(t), limit: counted[t]}
	switch s.kind {
	case reflect.Pointer:
		s.element, s.opaque = t.Elem(), jsonfields.Opaque(t.Elem())
	case reflect.Slice:
		s.element = t.Elem()
	case reflect.Map:
		s.element, s.entry = t.Elem(), mapEntry+int(t.Key().Size()+t.Elem().Size())
	case reflect.Struct:
		s.fields = jsonfields.Of(t)
	}
	shapes.Store(t, s)
	return s
}

// scanner reads JSON along the type that it will be decoded to, and adds up the memory of the result. It allocates no
// values and does not descend deeper than the type.
type scanner struct {
	text   []byte
	at     int
	kind   string
	field  []byte // path of the current value
	memory int
	counts map[reflect.Type]int
	err    error
}

// mapEntry is the approximate memory overhead of a map entry in addition to key and value.
const mapEntry = 16

// value reads a value of a type. It skips the value of an unknown field, whose type is nil.
func (s *scanner) value(t reflect.Type) {
	if t == nil {
		s.space()
		s.skip(false)
		return
	}
	of := shapeOf(t)
	for of.kind == reflect.Pointer && !of.opaque {
		of = shapeOf(of.element)
		s.add(of.size)
	}
	s.space()
	switch c := s.peek(); {
	case of.opaque || s.at >= len(s.text):
		s.skip(true)
	case c == '{' && of.kind == reflect.Struct:
		s.object(func(key []byte) { s.value(of.fields[string(key)]) })
	case c == '{' && of.kind == reflect.Map:
		s.object(func(key []byte) {
			s.add(of.entry + len(key))
			s.value(of.element)
		})
	case c == '[' && of.kind == reflect.Slice:
		s.list(of.element)
	default:
		s.skip(c == '"')
	}
}

// add adds bytes to the memory estimate.
func (s *scanner) add(n int) {
	if s.memory += n; s.memory > DecodedBytes {
		s.fail(&Error{Kind: s.kind, What: "bytes in memory", Limit: DecodedBytes})
	}
}

// fail ends the scan with an error; only the first one is kept.
func (s *scanner) fail(err *Error) {
	if s.err == nil {
		s.err = err
	}
	s.at = len(s.text)
}

// object reads an object and calls value after each key.
func (s *scanner) object(value func(key []byte)) {
	s.at++
	for {
		switch s.space(); s.peek() {
		case ',':
			s.at++
		case '"':
			key := s.string()
			if s.space(); s.peek() != ':' {
				s.at = len(s.text)
				return
			}
			s.at++
			depth := len(s.field)
			s.field = append(append(s.field, '.'), key[:min(len(key), PathBytes)]...)
			value(key)
			s.field = s.field[:depth]
		default: // the end of the object, or invalid JSON
			s.at++
			return
		}
	}
}

// list reads a list and counts its elements.
func (s *scanner) list(element reflect.Type) {
	of := shapeOf(element)
	s.at++
	for {
		switch s.space(); s.peek() {
		case ',':
			s.at++
		case ']', '}', ':', 0:
			s.at++
			return
		default:
			if of.limit > 0 && s.count(element) > of.limit {
				s.fail(&Error{Kind: s.kind, Field: strings.TrimPrefix(string(s.field), "."), What: "elements", Limit: of.limit})
				return
			}
			s.add(of.size)
			before := s.at
			s.value(element)
			s.at = max(s.at, before+1)
		}
	}
}

func (s *scanner) count(t reflect.Type) int {
	if s.counts == nil {
		s.counts = map[reflect.Type]int{}
	}
	s.counts[t]++
	return s.counts[t]
}

// skip reads a value of any depth. If kept is true, it counts its text as memory.
func (s *scanner) skip(kept bool) {
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.string()
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
			continue
		case ' ', '\t', '\n', '\r':
			s.at++
			continue
		default:
			s.word()
		}
		if depth <= 0 {
			break
		}
	}
	if kept {
		s.add(s.at - start)
	}
}

// word reads a number, true, false or null.
func (s *scanner) word() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\n', '\r':
			return
		}
	}
}

// string reads a string and returns its text without unescaping it.
func (s *scanner) string() []byte {
	start := s.at + 1
	for i := start; i < len(s.text); {
		n := bytes.IndexByte(s.text[i:], '"')
		if n < 0 {
			break
		}
		escape := bytes.IndexByte(s.text[i:i+n], '\\')
		if escape < 0 {
			s.at = i + n + 1
			return s.text[start : i+n]
		}
		i += escape + 2
	}
	s.at = len(s.text)
	return nil
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}
