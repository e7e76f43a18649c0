// Package excerpt truncates untrusted text for log lines, conditions and events.
package excerpt

import "unicode/utf8"

// mark is appended to truncated text.
const mark = " …"

// Of truncates text at a rune boundary to at most limit bytes, including a trailing
// ellipsis.
func Of(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := max(0, limit-len(mark))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}
