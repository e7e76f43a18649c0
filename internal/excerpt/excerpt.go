// Package excerpt makes untrusted text fit into log lines, conditions, events and reports.
package excerpt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// mark is appended to truncated text.
const mark = " …"

// Name returns a name for a line of text. A name with a line break, or another character that is not printed as
// itself, is quoted.
func Name(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

// Names returns the results of [Name].
func Names(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Name(name)
	}
	return out
}

// List joins at most most names, "a, b and 3 more".
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(names, ", ")
}

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
