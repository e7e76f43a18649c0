// Package faults holds what is wrong with one thing: all of it, each with its place.
//
//	var all faults.List
//	all.Add("endpoints[0]", checkEndpoint(…)) // which may return several
//	return all.Err()                          // endpoints[0]: interval: …
package faults

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Most is how many faults are collected: nobody reads more, and who writes an object may
// make as many as it has room for.
const Most = 20

// MostBytes is how much is kept of the text of a fault, which may quote a field of a
// megabyte. A fault with more is its text alone.
const MostBytes = 4 << 10

// List collects errors. The zero value is empty.
type List struct{ all []error }

// Add enters an error, or each of several joined ones, of a place; "" is the thing itself.
func (l *List) Add(where string, err error) {
	for _, e := range Leaves(err) {
		if l.Full() {
			return
		}
		if text := e.Error(); len(text) > MostBytes {
			e = errors.New(strings.Clone(excerpt.Of(text, MostBytes)))
		}
		if where != "" {
			e = fmt.Errorf("%s: %w", where, e)
		}
		l.all = append(l.all, e)
	}
}

// Full reports whether there are [Most] of them: it is no use to look for more.
func (l *List) Full() bool { return len(l.all) >= Most }

// Any reports whether there are some.
func (l *List) Any() bool { return len(l.all) > 0 }

// Err joins them; nil when there is none.
func (l *List) Err() error { return errors.Join(l.all...) }

// In says of an error, or each of several joined ones, where it is.
func In(where string, err error) error {
	if err == nil {
		return nil
	}
	var l List
	l.Add(where, err)
	return l.Err()
}

// Leaves takes joined errors apart.
func Leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, Leaves(e)...)
	}
	return out
}
