package engine

import (
	"errors"
	"fmt"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// InvalidError means that the object is invalid: a retry cannot help until it or
// something it refers to changes, which triggers an event.
type InvalidError struct {
	Err error
	// Again is when the key is reconciled again at the latest, for changes that trigger no
	// event; 0 for never.
	Again time.Duration
}

func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// foreignLook is the pause between reconciliations of a workload that needs the name of an
// object of somebody else, of which there are no events.
const foreignLook = time.Minute

// foreign marks an error about an object of somebody else: it is told once, and looked at from
// time to time. All others are returned as they are.
func foreign(err error) error {
	if _, is := errors.AsType[*apply.ForeignError](err); is {
		return &InvalidError{Err: err, Again: foreignLook}
	}
	return err
}

// undecodable is the error of a workload of which fields cannot be decoded, or that does not
// fit into memory: it is left as it is until they can, and it does.
func undecodable(w v1.Workload, err error) error {
	if capacity.IsStub(w) {
		return &InvalidError{Err: fmt.Errorf("nothing is changed until the object is in memory: %w", err)}
	}
	return &InvalidError{Err: fmt.Errorf("a field cannot be decoded, and nothing is changed until it can: %w", err)}
}

// WaitError means that something else must happen first; the key is reconciled
// again after For at the latest.
type WaitError struct {
	For       time.Duration
	Reason    string
	Condition string // reason of the condition that reports it; empty for that of any failure
}

func (e *WaitError) Error() string { return e.Reason }

// Waiting returns the WaitError that err is or wraps. One that came together with a
// failure ([errors.Join]) does not count: the failure is to be told.
func Waiting(err error) (wait *WaitError, ok bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		if wait, ok = err.(*WaitError); ok {
			return wait, true
		}
	}
	return nil, false
}
