package faults

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Finding is the reason why a value is rejected or not used as written, with the path of the
// field. As an error, it is one line: field, reason.
type Finding struct {
	// Field is the path as the user wrote it: "spec.endpoints[0].interval". It is empty for a
	// reason that concerns no field.
	Field string
	// Reason is human-readable, with how to correct the value if that is known. It does not
	// repeat the field.
	Reason string
	// Need (optional) is the condition under which the value would be used, as in Reason: ">= 2.49.0".
	Need string
	// Cause (optional) is the error that Reason describes.
	Cause error
}

// String returns field and reason in one line. This is the only place that joins them: events,
// conditions, log, webhook, lint and explain show the same text.
func (f Finding) String() string {
	if f.Field == "" {
		return f.Reason
	}
	return f.Field + ": " + f.Reason
}

// Error is like String.
func (f *Finding) Error() string { return f.String() }

// Unwrap returns the cause.
func (f *Finding) Unwrap() error { return f.Cause }

// located is an error type of another package that has the path of its field.
type located interface {
	error
	// Located returns field and reason as in [Finding].
	Located() (field, reason string)
}

// At returns err, or each error of a joined one, with a field in front of its path: that of an
// error about "name" below "username" is "username.name". nil stays nil.
//
// field: a name, an index ("[0]") or several of them ("endpoints[0].tlsConfig"). A reason longer
// than [MostBytes] is truncated and no longer wraps its cause.
func At(field string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var l List
		l.Add(field, err)
		return l.Err()
	default:
		return at(field, e)
	}
}

// at is like At for an error that is not joined.
func at(field string, err error) *Finding {
	out := of(err)
	out.Field = excerpt.Of(Join(field, out.Field), PathBytes)
	if len(out.Reason) > MostBytes {
		out.Reason, out.Cause = strings.Clone(excerpt.Of(out.Reason, MostBytes)), nil
	}
	return &out
}

// of returns an error that is not joined as a finding.
func of(err error) Finding {
	switch e := err.(type) { // no errors.As: text in between would be lost
	case *Finding:
		return *e
	case located:
		field, reason := e.Located()
		return Finding{Field: field, Reason: reason, Cause: err}
	}
	return Finding{Reason: err.Error(), Cause: err}
}

// Of returns the findings of an error, one for each joined error.
func Of(err error) []Finding {
	var out []Finding
	for _, e := range Leaves(err) {
		out = append(out, of(e))
	}
	return out
}

// Remark returns a finding about a value that is accepted.
func Remark(field, format string, args ...any) Finding {
	return Finding{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Texts returns findings as lines of text.
func Texts(all []Finding) (out []string) {
	for _, f := range all {
		out = append(out, f.String())
	}
	return out
}

// Sort sorts findings by their text.
func Sort(all []Finding) {
	slices.SortFunc(all, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
}

// Join appends the rest of a path to a field.
func Join(field, rest string) string {
	switch {
	case field == "":
		return rest
	case rest == "":
		return field
	case rest[0] == '[':
		return field + rest
	}
	return field + "." + rest
}

// Index returns the path of an item of a list.
func Index(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Key returns the path of an entry of a map: `matchLabels["app"]`.
func Key(object, key string) string {
	return object + "[" + strconv.Quote(excerpt.Of(key, PathBytes)) + "]"
}

// Reword returns err with each finding changed by change.
func Reword(err error, change func(*Finding)) error {
	var out []error
	for _, f := range Of(err) {
		change(&f)
		out = append(out, &f)
	}
	return errors.Join(out...)
}
