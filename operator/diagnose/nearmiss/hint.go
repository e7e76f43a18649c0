package nearmiss

import (
	"slices"
	"strings"
)

// Code is the kind of a hint.
type Code string

const (
	NoTarget        Code = "no-target"        // no object matches the search
	DuplicateTarget Code = "duplicate-target" // a pod is scraped twice
	Permission      Code = "permission"       // the ServiceAccount lacks a permission for the search
	Remark          Code = "remark"           // a value has no effect
)

// Hint describes a probable mistake in an object.
type Hint struct {
	Code Code `json:"code"`
	// Note is true if the object may be right as it is.
	Note bool `json:"note,omitempty"`
	// Field as the user wrote it: "spec.endpoints[0].port".
	Field string `json:"field"`
	// Message describes the search, what was found, and the fix.
	Message string `json:"message"`
	// Counterpart marks a hint about two objects that is reported for the other one as well.
	Counterpart bool `json:"-"`
}

// String returns field and message.
func (h Hint) String() string { return h.Field + ": " + h.Message }

// once removes duplicates, for example from several endpoints with the same fault.
func once(hints []Hint) (out []Hint) {
	for _, h := range hints {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// maxListed is the maximum number of items in a list of a message.
const maxListed = 5

// and joins words: "a, b and c". It truncates long lists.
func and(words []string) string { return join(words, "and") }

// or joins words: "a, b or c". It truncates long lists.
func or(words []string) string { return join(words, "or") }

func join(words []string, last string) string {
	if len(words) > maxListed {
		words = append(slices.Clone(words[:maxListed]), "others")
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
