package main

import (
	"regexp"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Limits of the output of a failed test.
const (
	maxLine    = 600  // bytes of a line
	maxFollow  = 12   // continuation lines of a message
	maxPanic   = 40   // lines of a panic or data race
	maxExcerpt = 6000 // bytes of a test; the last ones are kept
)

var (
	message = regexp.MustCompile(`^( +)[A-Za-z0-9_]+\.go:[0-9]+: `)
	logOf   = regexp.MustCompile(`: log of |end of the log of `)
	crash   = regexp.MustCompile(`^panic:|^fatal error:|DATA RACE|^\S+\.go:[0-9]+:[0-9]+: `)
)

// shortened returns the messages of a test, with their continuation lines, and panics, without
// the logs of programs. Output with neither is returned unchanged. The size is bounded in
// both cases.
func shortened(said string, test bool) string {
	var kept strings.Builder
	depth, left, more := 0, 0, 0
	for line := range strings.Lines(said) {
		if len(line) > maxLine {
			line = excerpt.Of(line, maxLine) + "\n"
		}
		if m := message.FindStringSubmatch(line); m != nil {
			depth, left = len(m[1]), maxFollow
			if logOf.MatchString(line) {
				left = 0
			}
			kept.WriteString(line)
			continue
		}
		if crash.MatchString(line) {
			more = maxPanic
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case more > 0:
			more--
			kept.WriteString(line)
		case left > 0 && indent > depth:
			left--
			kept.WriteString(line)
		default:
			left = 0
		}
	}
	s := kept.String()
	if s == "" && !test {
		s = said
	}
	if len(s) > maxExcerpt {
		s = "…" + strings.ToValidUTF8(s[len(s)-maxExcerpt:], "")
	}
	return s
}
