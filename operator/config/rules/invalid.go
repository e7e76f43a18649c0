package rules

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// InvalidError means that the object is invalid. Retrying is useless until it changes. It
// contains all faults in document order.
type InvalidError struct{ Faults []Fault }

// Fault is one error in an object.
type Fault struct {
	Field  string // path in the object: "spec.groups[2].rules[0].expr"
	Group  string // name of the group; empty for faults of the object
	Rule   string // `alert "Down"` or `record "job:up:sum"`; empty for faults of a group
	Reason string // the violated rule and the actual value
}

const (
	shownFaults = 20  // maximum number of faults in an error
	shownReason = 400 // maximum bytes of each reason
)

// Error returns one line: field, reason, names.
func (f Fault) Error() string {
	field, reason := f.Located()
	return faults.Finding{Field: field, Reason: reason}.String()
}

// Located returns the field, and reason and names in one line.
func (f Fault) Located() (field, reason string) {
	reason = excerpt.Of(f.Reason, shownReason)
	switch {
	case f.Rule != "":
		reason = fmt.Sprintf("%s (group %q, %s)", reason, f.Group, f.Rule)
	case f.Group != "":
		reason = fmt.Sprintf("%s (group %q)", reason, f.Group)
	}
	return f.Field, reason
}

// Error returns one line per fault.
func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i == shownFaults {
			fmt.Fprintf(&b, "\nand %d more", len(e.Faults)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Error())
	}
	return b.String()
}

// Unwrap returns all faults.
func (e *InvalidError) Unwrap() []error {
	out := make([]error, len(e.Faults))
	for i, f := range e.Faults {
		out[i] = f
	}
	return out
}

// undecodable returns the error for an object that could not be decoded.
func undecodable(all []v1.DecodingFault) error {
	out := &InvalidError{}
	for _, f := range all {
		out.Faults = append(out.Faults, Fault{Field: f.Field, Reason: f.Reason})
	}
	return out
}
