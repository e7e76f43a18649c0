package rules

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// InvalidError means that the object is wrong; trying again cannot help until it
// changes. It holds every fault found, in the order of the document.
type InvalidError struct{ Faults []Fault }

// Fault is one thing wrong with an object.
type Fault struct {
	Field  string // path as the user writes it: "spec.groups[2].rules[0].expr"
	Group  string // name of the group, empty for faults of the whole object
	Rule   string // `alert "Down"` or `record "job:up:sum"`, empty for faults of a group
	Reason string // the rule and the value found
}

const (
	shownFaults = 20  // an error names at most so many faults
	shownReason = 400 // and at most so many bytes of each reason
)

// String is one line: field, reason, names.
func (f Fault) String() string {
	reason := excerpt.Of(f.Reason, shownReason)
	switch {
	case f.Rule != "":
		return fmt.Sprintf("%s: %s (group %q, %s)", f.Field, reason, f.Group, f.Rule)
	case f.Group != "":
		return fmt.Sprintf("%s: %s (group %q)", f.Field, reason, f.Group)
	}
	return f.Field + ": " + reason
}

// Error is one line per fault.
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
		b.WriteString(f.String())
	}
	return b.String()
}

// undecodable is the error of an object that could not be decoded.
func undecodable(all []v1.DecodingFault) error {
	out := &InvalidError{}
	for _, f := range all {
		out.Faults = append(out.Faults, Fault{Field: f.Field, Reason: f.Reason})
	}
	return out
}
