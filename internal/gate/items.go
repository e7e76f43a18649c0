package gate

import (
	"errors"
	"reflect"
)

// ErrTooLong says that a text has reached its limit; what was written is not to be used.
var ErrTooLong = errors.New("the text is too long")

// Items writes list items of a key of the top level one by one, as [AppendItems] writes
// them all, up to a limit.
type Items struct {
	// Text of the items so far.
	Text []byte
	// Dropped is what was left out of them.
	Dropped []Dropped

	target Target
	path   string
	limit  int
	n      int
}

// NewItems returns a list without items.
//
// path: prefix of the reported paths; item i is reported as path[i]. limit: of the text, in
// bytes.
func NewItems(target Target, path string, limit int) *Items {
	return &Items{target: target, path: path, limit: limit}
}

// Len is the number of items.
func (l *Items) Len() int { return l.n }

// Add writes one item.
//
// item: a struct, a pointer to one or a map. Errors: [ErrTooLong], as soon as the text has
// more bytes than the limit; a value YAML cannot express.
func (l *Items) Add(item any) error {
	return l.AddAll([]any{item})
}

// AddAll writes the elements of a slice.
func (l *Items) AddAll(items any) error {
	e := newEncoder(l.Text, l.target, l.path)
	defer e.release()
	e.limit = l.limit
	rv := reflect.ValueOf(items)
	elem := rv.Type().Elem()
	e.items(rv, listItem{write: e.plans.writerFor(elem), gated: selfGated(elem)}, 0, l.n)
	l.n += rv.Len()
	l.Text, l.Dropped = e.buf, append(l.Dropped, e.dropped...)
	e.full(0)
	return e.err
}
