package reload

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

// An unreachable server is not an error while it may be starting, that is until it has
// responded once, or for a number of attempts.
func TestServerThatStarts(t *testing.T) {
	tries := func(n int) []error { return slices.Repeat([]error{away}, n) }
	for name, tc := range map[string]struct {
		answers              []error
		waits, errors, okays int // number of log records
	}{
		"answers at once":    {[]error{nil}, 0, 0, 1},
		"answers soon":       {append(tries(3), nil), 1, 0, 1},
		"answers late":       {append(tries(startTries+2), nil), 1, 2, 1},
		"refuses, then dies": {append([]error{refused}, append(tries(2), nil)...), 0, 3, 1},
		"is busy, then dies": {append([]error{early}, append(tries(2), nil)...), 0, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := TargetOptions{Backoff: Backoff{Base: time.Second, Max: time.Second}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			play(t, &script{answers: tc.answers}, o, func(target *Target) {
				target.Want(Content{Version: "a"})
				time.Sleep(time.Hour)
			})
			text := log.String()
			waits, errors, okays := strings.Count(text, "does not answer yet"), strings.Count(text, "level=ERROR"), strings.Count(text, "Reload succeeded")
			if waits != tc.waits || errors != tc.errors || okays != tc.okays {
				t.Errorf("%d, %d, %d; want %d, %d, %d:\n%s", waits, errors, okays, tc.waits, tc.errors, tc.okays, text)
			}
		})
	}
}
