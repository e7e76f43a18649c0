package controller

import "time"

// InvalidError means that the object is wrong: trying again cannot help until it
// or something it refers to changes, which an event tells.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// WaitError means that something else must happen first; the pass is repeated
// after For at the latest.
type WaitError struct {
	For       time.Duration
	Reason    string
	Condition string // reason of the condition that reports it; empty for that of any failure
}

func (e *WaitError) Error() string { return e.Reason }
