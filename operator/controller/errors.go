package controller

import (
	"fmt"
	"time"
)

// InvalidError means that the object is wrong: trying again cannot help until it
// or something it refers to changes.
type InvalidError struct {
	Field  string // path as the user writes it, "spec.endpoints[2].interval"; may be empty
	Reason string // the rule and the value found
}

func (e *InvalidError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Field, e.Reason)
}

// WaitError means that something else must happen first; the pass is repeated
// after For at the latest.
type WaitError struct {
	For    time.Duration
	Reason string
}

func (e *WaitError) Error() string { return e.Reason }
