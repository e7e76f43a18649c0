package assets

import "fmt"

// ContentError is what is wrong with the value of a key.
type ContentError struct {
	Ref  Ref
	Key  string
	Line int // of the value, from 1
	Err  error
}

// Error names the line and not the object, which stands in the field that refers to it.
func (e *ContentError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *ContentError) Unwrap() error { return e.Err }
