package thanostest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RefusedError means that the program ended instead of serving.
type RefusedError struct {
	Reason string // what it says, without stack traces; paths are those of the container
	Log    string // all it has written
}

func (e *RefusedError) Error() string { return "thanos refuses: " + e.Reason }

func refused(log, root string) *RefusedError {
	log = strings.ReplaceAll(log, root, "")
	var reasons []string
	for line := range strings.Lines(log) {
		if reason := reasonIn(strings.TrimSpace(line)); reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		reasons = []string{log[max(0, len(log)-2000):]}
	}
	return &RefusedError{Reason: strings.Join(reasons, "; "), Log: log}
}

var (
	// plainReason is of lines that are no records of the log.
	plainReason = regexp.MustCompile(`^(?:thanos: error: |error parsing commandline arguments: \[.*\]: |panic: )(.+)$`)
	errField    = regexp.MustCompile(`\berr=("(?:[^"\\]|\\.)*"|\S+)`)
	// frame is an entry of a stack trace: the function, and the file in a line of its own.
	frame = regexp.MustCompile(`\n[^\n]+\n\t[^\n]+:\d+`)
)

// reasonIn is the error of a line of the log, or "".
func reasonIn(line string) string {
	if m := plainReason.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	var fields struct{ Level, Err string }
	if json.Unmarshal([]byte(line), &fields) != nil && strings.Contains(line, "level=error ") {
		if m := errField.FindStringSubmatch(line); m != nil {
			fields.Level, fields.Err = "error", m[1]
			if text, err := strconv.Unquote(m[1]); err == nil {
				fields.Err = text
			}
		}
	}
	if fields.Level != "error" {
		return ""
	}
	return strings.ReplaceAll(frame.ReplaceAllString(fields.Err, ""), "\n", ": ")
}
