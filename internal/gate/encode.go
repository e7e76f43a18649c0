package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v2"
)

// Node is YAML of an unknown structure, with its keys in order. [ParseList] returns it.
type Node = yaml.MapSlice

// Item is a key-value pair of a [Node].
type Item = yaml.MapItem

// Marshal returns v as a YAML document for the target, and the omitted fields.
//
// v: a struct or a pointer to one.
//
// Errors: a value that YAML cannot express.
func Marshal(v any, target Target) ([]byte, []Dropped, error) {
	text, dropped, err := Append(nil, v, target, "")
	if err == nil && len(text) == 0 {
		text = []byte("{}\n")
	}
	return text, dropped, err
}

// Append appends the keys of v to the top level of the document in buf. It appends
// nothing if no key of v is supported by the target.
//
// path: prefix of the reported paths, without a trailing dot; may be empty.
func Append(buf []byte, v any, target Target, path string) ([]byte, []Dropped, error) {
	e := newEncoder(buf, target, path)
	defer e.release()
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if rv.Kind() != reflect.Struct {
		return buf, nil, fmt.Errorf("gate: a document must be a struct, not %T", v)
	}
	e.plans.writerFor(rv.Type())(e, rv, place{indent: 0, after: nothing})
	return e.buf, e.dropped, e.err
}

// AppendItems appends the elements of items, a slice, as list items of a top-level key
// ("- ..." without indentation), so that fragments that were written at different times
// can be concatenated.
//
// path: prefix of the reported paths; element i is reported as path[i].
func AppendItems(buf []byte, items any, target Target, path string) ([]byte, []Dropped, error) {
	e := newEncoder(buf, target, path)
	defer e.release()
	rv := reflect.ValueOf(items)
	if rv.Kind() != reflect.Slice {
		return buf, nil, fmt.Errorf("gate: items must be a slice, not %T", items)
	}
	elem := rv.Type().Elem()
	e.items(rv, listItem{write: e.plans.writerFor(elem), gated: selfGated(elem)}, 0, 0)
	return e.buf, e.dropped, e.err
}

// ParseList parses a YAML 1.1 list of maps and keeps the order of keys. An empty text is
// an empty list.
func ParseList(text []byte) ([]Node, error) {
	var out []Node
	if err := yaml.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// after is the context of a value on its line.
type after uint8

const (
	nothing after = iota // start of the document or of the body of a mapping
	aKey                 // "key:"
	aDash                // "- "
)

// place is the position of a value: the column of the key or dash before it.
type place struct {
	indent int
	after  after
	quoted bool // the key is quoted: the library cannot write a text below it
}

// writer writes one value, including the line break.
type writer func(e *encoder, v reflect.Value, at place)

// step is one element of the path of the value being written.
type step struct {
	key   string
	index int // of a list item if key is empty
}

type encoder struct {
	buf     []byte
	plans   *plans
	path    []step
	dropped []Dropped
	limit   int // maximum length of buf in bytes; 0 means no limit
	err     error
	literal func(string) bool // see Items.Literal; nil: none
}

var encoders = sync.Pool{New: func() any { return &encoder{path: make([]step, 0, 16)} }}

func newEncoder(buf []byte, t Target, path string) *encoder {
	e := encoders.Get().(*encoder)
	e.buf, e.plans, e.dropped, e.limit, e.err = buf, plansFor(t), nil, 0, nil
	e.path = e.path[:0]
	if path != "" {
		e.path = append(e.path, step{key: path})
	}
	return e
}

func (e *encoder) release() {
	e.buf, e.plans, e.dropped, e.err, e.literal = nil, nil, nil, nil, nil
	encoders.Put(e)
}

func (e *encoder) drop(need string) {
	e.dropped = append(e.dropped, Dropped{Path: e.pathText(), Need: need})
}

func (e *encoder) pathText() string {
	var b []byte
	for i, s := range e.path {
		if s.key == "" {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			continue
		}
		if i > 0 {
			b = append(b, '.')
		}
		b = append(b, s.key...)
	}
	return string(b)
}

func (e *encoder) push(s step) { e.path = append(e.path, s) }
func (e *encoder) pop()        { e.path = e.path[:len(e.path)-1] }

const blanks = "                                                                "

func (e *encoder) indent(n int) {
	for ; n > len(blanks); n -= len(blanks) {
		e.buf = append(e.buf, blanks...)
	}
	e.buf = append(e.buf, blanks[:n]...)
}

// flow ends the line with a value that has no block form.
func (e *encoder) flow(text string, at place) {
	if at.after == aKey {
		e.buf = append(e.buf, ' ')
	}
	e.buf = append(e.buf, text...)
	e.buf = append(e.buf, '\n')
}

// structure writes the keys of a struct. After a key the body starts on a new line with
// more indentation; after a dash its first key is on the same line.
func (e *encoder) structure(p *structPlan, v reflect.Value, at place) {
	body, first := at.indent, false
	start := len(e.buf)
	switch at.after {
	case aKey:
		body += 2
		e.buf = append(e.buf, '\n')
	case aDash:
		body += 2
		first = true
	}
	written := false
	for i := range p.fields {
		if e.full(0) {
			return
		}
		f := &p.fields[i]
		fv := v.FieldByIndex(f.index)
		if absent(fv, f.empty) || f.first >= 0 && !absent(v.FieldByIndex(p.fields[f.first].index), whenZero) {
			continue
		}
		e.push(step{key: f.key})
		if f.need == "" {
			if e.key(f, fv, body, first) {
				written, first = true, false
			}
		} else {
			e.drop(f.need)
		}
		e.pop()
	}
	if !written && at.after != nothing {
		e.buf = e.buf[:start]
		e.flow("{}", at)
	}
}

// key writes "key: value" unless the value itself does not support the target.
func (e *encoder) key(f *field, v reflect.Value, indent int, first bool) bool {
	if f.gated {
		if need := needOf(v, e.plans.target); need != "" {
			e.drop(need)
			return false
		}
	}
	mark := len(e.buf)
	if !first {
		e.indent(indent)
	}
	e.buf = append(e.buf, f.key...)
	e.buf = append(e.buf, ':')
	value := len(e.buf)
	f.write(e, v, place{indent: indent, after: aKey})
	if f.dropEmpty && (string(e.buf[value:]) == " {}\n" || string(e.buf[value:]) == " []\n") { // compared without a copy
		e.buf = e.buf[:mark]
		return false
	}
	return true
}

// list writes a slice below its key, with the items in the column of the key.
func (e *encoder) list(v reflect.Value, item listItem, at place) {
	mark := len(e.buf)
	column := at.indent
	switch at.after {
	case aKey:
		e.buf = append(e.buf, '\n')
	case aDash:
		column += 2
	}
	start := len(e.buf)
	e.items(v, item, column, 0)
	if len(e.buf) == start {
		e.buf = e.buf[:mark]
		e.flow("[]", at)
		return
	}
	if at.after == aDash { // the first item is on the line of the outer dash
		e.buf = slices.Delete(e.buf, start, start+column)
	}
}

// listItem describes how the elements of a slice type are written.
type listItem struct {
	write writer
	gated bool
}

// items writes the elements of a slice. Their reported indices start at first.
func (e *encoder) items(v reflect.Value, item listItem, column, first int) {
	for i := range v.Len() {
		if e.full(0) {
			return
		}
		iv := v.Index(i)
		e.push(step{index: first + i})
		need := ""
		if item.gated {
			need = needOf(iv, e.plans.target)
		}
		if need != "" {
			e.drop(need)
		} else {
			e.indent(column)
			e.buf = append(e.buf, "- "...)
			item.write(e, iv, place{indent: column, after: aDash})
		}
		e.pop()
	}
}

// mapping writes a map with its keys in byte order, or in that of the library.
func (e *encoder) mapping(v reflect.Value, item writer, asLibrary bool, at place) {
	if v.Len() == 0 {
		e.flow("{}", at)
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	if asLibrary {
		slices.SortFunc(keys, func(a, b reflect.Value) int { return compareKeys(a.String(), b.String()) })
	}
	e.pairs(func(yield func(string, reflect.Value) bool) {
		for _, k := range keys {
			if !yield(k.String(), v.MapIndex(k)) {
				return
			}
		}
	}, item, at)
}

// pairs writes keys and values in their order.
func (e *encoder) pairs(all iter.Seq2[string, reflect.Value], item writer, at place) {
	indent, first := at.indent, false
	switch at.after {
	case aKey:
		e.buf = append(e.buf, '\n')
		indent += 2
	case aDash:
		indent, first = indent+2, true
	}
	for key, v := range all {
		if e.full(len(key)) {
			return
		}
		e.push(step{key: key})
		if !first {
			e.indent(indent)
		}
		first = false
		e.entry(key, v, item, indent)
		e.pop()
	}
}

// entry writes one pair of a map. Keys that cannot be plain are rare, so the whole pair
// is then marshaled by the library. The exceptions are "<<", which the library writes plain,
// so that it would be read back as a merge key, and pairs with references that may have to be
// escaped. References in keys always are: keys could become equal.
func (e *encoder) entry(key string, v reflect.Value, item writer, indent int) {
	at := place{indent: indent, after: aKey}
	switch {
	case e.literal != nil && strings.Contains(key, reference):
		at.quoted = true
		key = escaped(key)
	case key == "<<":
		key = `"<<"`
	case styleOf(key) != plain || len(key) > 100:
		var wrapped any = Node{{Key: key, Value: v.Interface()}}
		pair := e.nested(wrapped, indent/2)
		if e.literal == nil || !bytes.Contains(pair, []byte(reference)) {
			if len(pair) >= indent {
				e.buf = append(e.buf, pair[indent:]...)
			}
			return
		}
		at.quoted = true
		key = strconv.QuoteToASCII(key)
	}
	if len(key) > maxSimpleKey {
		e.buf = append(e.buf, "? "...)
		key += "\n" + strings.Repeat(" ", indent)
	}
	e.buf = append(e.buf, key...)
	e.buf = append(e.buf, ':')
	item(e, v, at)
}

// maxSimpleKey is the maximum length of a key without a question mark before it. YAML permits 1024.
const maxSimpleKey = 1000

// full reports whether n more bytes would exceed the limit, and then sets the error of
// the encoder.
func (e *encoder) full(n int) bool {
	if e.limit == 0 || len(e.buf)+n <= e.limit {
		return false
	}
	if e.err == nil {
		e.err = ErrTooLong
	}
	return true
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: %w", e.pathText(), err)
	}
}
