// Package excerpt shortens texts that contain what somebody else wrote, before they
// go where there is no room for all of it: log lines, conditions, events.
package excerpt

import "unicode/utf8"

// mark says that something was cut off.
const mark = " …"

// Of cuts a text between characters to at most limit bytes, and says so.
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
