package clientconfig

import "fmt"

// Way is one of several blocks that are mutually exclusive.
type Way struct {
	// Field is the name of the field in the object.
	Field string
	// Given reports whether the block is set; an empty block counts.
	Given bool
}

// AtMostOne returns an error with the first two blocks that are both given.
func AtMostOne(ways ...Way) error {
	first := ""
	for _, w := range ways {
		switch {
		case !w.Given:
		case first == "":
			first = w.Field
		default:
			return fmt.Errorf("%s and %s are mutually exclusive", first, w.Field)
		}
	}
	return nil
}

// fieldError is an error about a field of the object.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.err }

// At wraps an error with the name of a field. Nested fields are joined into one path, as
// in "consulSDConfigs[0].server: is empty". nil stays nil.
func At(field string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*fieldError); ok { // no errors.As: text in between would be lost
		return &fieldError{field: field + "." + inner.field, err: inner.err}
	}
	return &fieldError{field: field, err: err}
}
