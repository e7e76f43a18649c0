// Package report writes what a command found: as text for people, or as JSON for
// programs.
package report

import (
	"encoding/json"
	"io"
	"strings"
)

// Formats are the values of Write's format.
var Formats = []string{"text", "json"}

// Write prints found as JSON when format is "json", else what text writes.
func Write(w io.Writer, format string, found any, text func(*strings.Builder)) error {
	if format == "json" {
		return JSON(w, found)
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON prints v indented, with <, > and & as they are, and a newline at the end.
func JSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
