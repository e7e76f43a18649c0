package assets

import "fmt"

// ContentError is an error in the value of a key.
type ContentError struct {
	Ref  Ref
	Key  string
	Line int // in the value, from 1
	Err  error
}

// Error includes the key, the object and the line: `key "a" of Secret "ns/name", line 2: ...`.
func (e *ContentError) Error() string {
	return fmt.Sprintf("key %q of %s, line %d: %v", e.Key, e.Ref, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *ContentError) Unwrap() error { return e.Err }
