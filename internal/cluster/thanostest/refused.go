package thanostest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RefusedError means that the program exited instead of serving.
type RefusedError struct {
	Reason string // error text without stack traces, with the paths of the container
	Log    string // complete output
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
	// plainReason matches output lines that are not log records.
	plainReason = regexp.MustCompile(`^(?:thanos: error: |error parsing commandline arguments: \[.*\]: |panic: )(.+)$`)
	errField    = regexp.MustCompile(`\berr=("(?:[^"\\]|\\.)*"|\S+)`)
	// frame matches an entry of a stack trace: the function, and the file on a separate
	// line.
	frame = regexp.MustCompile(`\n[^\n]+\n\t[^\n]+:\d+`)
)

// reasonIn returns the error in a log line, or "".
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
