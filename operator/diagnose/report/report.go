// Package report writes the results of a command as human-readable text or as JSON.
package report

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Formats are the formats that [Write] accepts.
var Formats = []string{"text", "json"}

// Write writes found as JSON if format is "json", otherwise the output of text.
func Write(w io.Writer, format string, found any, text func(*strings.Builder)) error {
	if format == "json" {
		return JSON(w, found)
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// Count returns a number of things: "1 target", "3 targets".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun) }

// Plural returns the noun for a number of things.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// JSON writes v as indented JSON, without escaping <, > and &, and with a final newline.
func JSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
