package budget

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
)

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
	for t != nil && t.Kind() == reflect.Pointer && !opaque(t.Elem()) {
		t = t.Elem()
		s.add(int(t.Size()))
	}
	s.space()
	if t == nil || s.at >= len(s.text) || opaque(t) {
		s.skip(t != nil)
		return
	}
	switch c := s.text[s.at]; {
	case c == '{' && t.Kind() == reflect.Struct:
		fields := jsonfields.Of(t)
		s.object(func(key []byte) { s.value(fields[string(key)]) })
	case c == '{' && t.Kind() == reflect.Map:
		s.object(func(key []byte) {
			s.add(mapEntry + len(key) + int(t.Key().Size()+t.Elem().Size()))
			s.value(t.Elem())
		})
	case c == '[' && t.Kind() == reflect.Slice:
		s.list(t.Elem())
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
	limit, has := counted[element]
	s.at++
	for {
		switch s.space(); s.peek() {
		case ',':
			s.at++
		case ']', '}', ':', 0:
			s.at++
			return
		default:
			if has && s.count(element) > limit {
				s.fail(&Error{Kind: s.kind, Field: strings.TrimPrefix(string(s.field), "."), What: "elements", Limit: limit})
				return
			}
			s.add(int(element.Size()))
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
	for i := start; ; {
		n := bytes.IndexAny(s.text[min(i, len(s.text)):], `"\`)
		if n < 0 {
			s.at = len(s.text)
			return nil
		}
		if i += n; s.text[i] == '"' {
			s.at = i + 1
			return s.text[start:i]
		}
		i += 2
	}
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

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// opaque reports whether a type decodes itself.
func opaque(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
}
