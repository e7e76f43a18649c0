package commands

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// background runs the operator in this process, and returns once it is connected: by
// then, process-wide state is initialized, so that commands can run concurrently. stop
// shuts it down cleanly, and logs its output if the test has failed.
func background(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var log logtest.Log
	code := make(chan int, 1)
	go func() { code <- Operator(ctx, args, &log, &log) }()
	for end := time.Now().Add(time.Minute); !strings.Contains(log.String(), "msg=connected"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			cancel()
			t.Fatalf("the operator does not connect; it ended with %d\n%s", <-code, log.String())
		}
	}
	return func() {
		t.Helper()
		cancel()
		if got := <-code; got != 0 || t.Failed() {
			t.Errorf("the operator ended with %d\n%s", got, log.String())
		}
	}
}
