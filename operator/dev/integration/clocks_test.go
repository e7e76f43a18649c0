package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clockAhead is the environment variable with the seconds by which the clock of a program built by [environment.ahead] is ahead.
const clockAhead = "FIREKEEPER_CLOCK_AHEAD"

// patchedNow makes [time.Now] add the seconds in an environment variable. Timers follow the monotonic clock and stay
// as they are, like those of a machine whose clock is wrong.
var patchedNow = strings.NewReplacer(
	"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n", "\tsec, nsec, mono := runtimeNow()\n\tsec += clockAhead\n\tif mono == 0 {\n",
	"\n// Now returns the current local time.\n", `
var clockAhead = func() int64 {
	text, _ := syscall.Getenv("`+clockAhead+`")
	seconds, _ := atoi(text)
	return int64(seconds)
}()

// Now returns the current local time.
`, "\t\"math/bits\"\n", "\t\"math/bits\"\n\t\"syscall\"\n")

// clocked is the operator with a clock of its own.
var clocked struct {
	once    sync.Once
	program string
}

// ahead returns an environment whose operators have clocks that are ahead, or behind for a negative time. It skips the test
// unless FIREKEEPER_CLOCKS is set, because a build with another clock compiles everything, which takes minutes.
func (w *environment) ahead(t *testing.T, by time.Duration) *environment {
	t.Helper()
	if os.Getenv("FIREKEEPER_CLOCKS") == "" {
		t.Skip("FIREKEEPER_CLOCKS is not set")
	}
	clocked.once.Do(func() { clocked.program = build(t, "clocked", "-overlay="+overlay(t)) })
	if clocked.program == "" {
		t.Fatal("an earlier test could not build the operator")
	}
	out := *w
	out.program, out.env = clocked.program, []string{fmt.Sprintf("%s=%d", clockAhead, int(by.Seconds()))}
	return &out
}

// overlay writes the patched source of time.Now, and returns the file that makes a build use it.
func overlay(t *testing.T) string {
	t.Helper()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	patched := patchedNow.Replace(string(text))
	if strings.Count(patched, "clockAhead") != 2 || strings.Count(patched, `"syscall"`) != 1 {
		t.Fatalf("%s: time.Now is not as expected", source)
	}
	changed, list := filepath.Join(scratch, "time.go"), filepath.Join(scratch, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{changed: []byte(patched), list: replace} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// Replicas whose clocks are a minute apart, more than the Lease lasts, are stopped, killed and paused: there is one
// writer, and no change is lost.
func TestReplicasWithOtherClocks(t *testing.T) {
	w := start(t)
	early, late := w.ahead(t, -30*time.Second), w.ahead(t, 30*time.Second)
	t.Parallel()
	w.newReplicas(t, early, late).changeHands(t)
}
