package catalog

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// ObjectError is an error in an object to which the rejected one refers.
type ObjectError struct {
	Ref
	Finding faults.Finding // with the field of the object
}

// Error returns the object, the field and the reason.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Kind, e.Namespace+"/"+e.Name, e.Finding)
}

// Unwrap returns the cause.
func (e *ObjectError) Unwrap() error { return e.Finding.Cause }
