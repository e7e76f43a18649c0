package gate

import (
	"errors"
	"reflect"
)

// ErrTooLong means that a text exceeds its limit. The text is truncated and must not be
// used.
var ErrTooLong = errors.New("the text is too long")

// Items is a list of a top-level key that is written item by item, in the format of
// [AppendItems] and up to a limit.
type Items struct {
	// Text is the YAML of the items.
	Text []byte
	// Dropped lists the omitted keys and items.
	Dropped []Dropped
	// Literal reports whether the variables in a string, $(NAME), must not be substituted by the program that
	// renders the text: their dollar signs are then written as escapes. It is called for values
	// of strings that contain "$("; those in keys of maps are always escaped. If nil, no string is.
	Literal func(text string) bool

	target Target
	path   string
	limit  int
	n      int
}

// firstCapacity is enough for most lists, in bytes, so that the text does not grow from nothing in many steps.
const firstCapacity = 2048

// NewItems returns an empty list.
//
// path: prefix of the reported paths; item i is reported as path[i]. limit: maximum length
// of the text in bytes.
func NewItems(target Target, path string, limit int) *Items {
	return &Items{Text: make([]byte, 0, firstCapacity), target: target, path: path, limit: limit}
}

// Len returns the number of items.
func (l *Items) Len() int { return l.n }

// Add appends one item.
//
// item: a struct, a pointer to one or a map. Errors: [ErrTooLong] once the text exceeds the
// limit; a value that YAML cannot express.
func (l *Items) Add(item any) error {
	return l.AddAll([]any{item})
}

// AddAll appends the elements of a slice.
func (l *Items) AddAll(items any) error {
	e := newEncoder(l.Text, l.target, l.path)
	defer e.release()
	e.limit, e.literal = l.limit, l.Literal
	rv := reflect.ValueOf(items)
	elem := rv.Type().Elem()
	e.items(rv, listItem{write: e.plans.writerFor(elem), gated: selfGated(elem)}, 0, l.n)
	l.n += rv.Len()
	l.Text, l.Dropped = e.buf, append(l.Dropped, e.dropped...)
	e.full(0)
	return e.err
}
