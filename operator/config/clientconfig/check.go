package clientconfig

import "fmt"

// Way is one of several blocks that are mutually exclusive.
type Way struct {
	// Field as the user wrote it.
	Field string
	// Given counts an empty block as given.
	Given bool
}

// AtMostOne names the first two blocks that are given together.
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

// fieldError is an error about a field as the user wrote it.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.err }

// At says which field an error is about; fields around fields make one path,
// as in "consulSDConfigs[0].server: is empty". nil stays nil.
func At(field string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*fieldError); ok { // not deeper: text in between would be lost
		return &fieldError{field: field + "." + inner.field, err: inner.err}
	}
	return &fieldError{field: field, err: err}
}
