// Package faults describes errors in one object, and remarks about it, each with the path of its
// field.
//
//	var all faults.List
//	all.Add("endpoints[0]", checkEndpoint(...)) // which may return several
//	return faults.At("spec", all.Err())         // spec.endpoints[0].interval: ...
package faults

import (
	"errors"
	"fmt"
	"slices"
)

// Most is the maximum number of errors in a [List]. The author of an object could
// otherwise cause as many as fit into it.
const Most = 20

// MostBytes is the maximum size of an error text, which may quote a field of a megabyte. A
// longer error is truncated and no longer wraps its cause.
const MostBytes = 4 << 10

// List collects errors. The zero value is empty.
type List struct{ all []error }

// PathBytes is the maximum length of a path, which may contain keys of maps.
const PathBytes = 1 << 10

// Add appends err, or each error of a joined one, below where as [At] does. An empty where means
// the object itself.
func (l *List) Add(where string, err error) {
	for _, e := range Leaves(err) {
		if l.Full() {
			return
		}
		if f, is := e.(*Finding); is && where == "" { // bounded already
			l.all = append(l.all, f)
			continue
		}
		l.all = append(l.all, at(where, e))
	}
}

// Full reports whether the list has [Most] errors, so that further checks are pointless.
func (l *List) Full() bool { return len(l.all) >= Most }

// Any reports whether the list has errors.
func (l *List) Any() bool { return len(l.all) > 0 }

// Err joins the errors. It returns nil if there are none.
func (l *List) Err() error { return errors.Join(l.all...) }

// Each joins the errors of do for the entries of a list, each below "field[index]", until there are [Most].
func Each[T any](field string, list []T, do func(*T) error) error {
	var wrong List
	for i := range list {
		if wrong.Full() {
			break
		}
		wrong.Add(Index(field, i), do(&list[i]))
	}
	return wrong.Err()
}

// Convert returns the results of convert for the entries of a list, and joins its errors as [Each] does. After an error
// there may be fewer results than entries.
func Convert[In, Out any](field string, list []In, convert func(*In) (Out, error)) (out []Out, err error) {
	err = Each(field, list, func(entry *In) error {
		converted, err := convert(entry)
		out = append(out, converted)
		return err
	})
	return out, err
}

// In prefixes err, or each error of a joined one, with where, which is not a field: the name of a
// file or of an object.
func In(where string, err error) error {
	var out []error
	for _, e := range Leaves(err) {
		out = append(out, fmt.Errorf("%s: %w", where, e))
	}
	return errors.Join(out...)
}

// Union joins errors, each once.
func Union(errs ...error) error {
	var all []error
	for _, err := range Leaves(errors.Join(errs...)) {
		if !slices.ContainsFunc(all, func(have error) bool { return have.Error() == err.Error() }) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// Leaves flattens joined errors.
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
