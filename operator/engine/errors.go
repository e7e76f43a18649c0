package engine

import (
	"errors"
	"fmt"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// InvalidError means that the object is invalid: a retry cannot help until it or something it
// refers to changes, which triggers an event.
type InvalidError struct {
	Err error
	// Again is the maximum time until the key is reconciled again, for changes that trigger no
	// event; 0 for never.
	Again time.Duration
}

func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// foreignLook is the pause between reconciliations of a workload that needs the name of an object
// with another owner, which is not watched.
const foreignLook = time.Minute

// foreign marks an error about an object with another owner, so that it is logged once and retried
// periodically. Other errors are returned unchanged.
func foreign(err error) error {
	if _, is := errors.AsType[*apply.ForeignError](err); is {
		return &InvalidError{Err: err, Again: foreignLook}
	}
	return err
}

// undecodable returns the error of a workload with undecodable fields or one that does not fit into
// memory: it is left unchanged until that is resolved.
func undecodable(w v1.Workload, err error) error {
	if capacity.IsStub(w) {
		return &InvalidError{Err: fmt.Errorf("nothing is changed until the object is in memory: %w", err)}
	}
	return &InvalidError{Err: fmt.Errorf("a field cannot be decoded, and nothing is changed until it can: %w", err)}
}

// WaitError means that something else must happen first; the key is reconciled again after For at
// the latest.
type WaitError struct {
	For       time.Duration
	Reason    string
	Condition string // reason of the condition that reports it; empty for the reason of a failure
}

func (e *WaitError) Error() string { return e.Reason }

// reasonedError is an error that has a reason of its own for the condition Reconciled.
type reasonedError interface {
	error
	ConditionReason() string
}

// Waiting returns the WaitError that err is or wraps. A WaitError that is joined with a failure
// ([errors.Join]) does not count, because the failure must be reported.
func Waiting(err error) (wait *WaitError, ok bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		if wait, ok = err.(*WaitError); ok {
			return wait, true
		}
	}
	return nil, false
}
