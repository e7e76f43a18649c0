package commands

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A repeated warning of the API server is logged once, and different ones are all logged.
func TestAPIWarnings(t *testing.T) {
	var log bytes.Buffer
	w := &apiWarnings{log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, text := range []string{"a is deprecated", "b is deprecated", "a is deprecated", ""} {
		w.HandleWarningHeader(299, "-", text)
	}
	w.HandleWarningHeader(199, "-", "not for people")
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "a is deprecated") || !strings.Contains(log.String(), "b is deprecated") {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}
