package nearmiss

import (
	"slices"
	"strings"
)

// Code is the kind of a hint.
type Code string

const (
	NoTarget        Code = "no-target"        // what is looked for does not exist
	DuplicateTarget Code = "duplicate-target" // a pod is scraped twice
	Permission      Code = "permission"       // the ServiceAccount may not look for it
	Remark          Code = "remark"           // a value has no effect
)

// Hint is one thing that is probably not as its author meant it.
type Hint struct {
	Code Code `json:"code"`
	// Note says that it may be all right.
	Note bool `json:"note,omitempty"`
	// Field as the user wrote it: "spec.endpoints[0].port".
	Field string `json:"field"`
	// Message says what is looked for, what is there, and what to write instead.
	Message string `json:"message"`
}

// String is field and message.
func (h Hint) String() string { return h.Field + ": " + h.Message }

// once leaves out repetitions, as several endpoints with one fault make them.
func once(hints []Hint) (out []Hint) {
	for _, h := range hints {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// maxListed bounds what a message lists.
const maxListed = 5

// and joins words: "a, b and c", cut short where there are many.
func and(words []string) string { return join(words, "and") }

// or joins words: "a, b or c".
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

// plural is a word for n things.
func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
