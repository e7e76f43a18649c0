package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxAgain is the maximum number of failed tests to retry. With more, the run is broken and not
// flaky.
const maxAgain = 3

// crashed matches output of failures that are never retried.
var crashed = regexp.MustCompile(`(?m)^panic:|^fatal error:|DATA RACE`)

// rerun runs the tests of a package that match a regular expression, and returns the events.
type rerun func(pkg, tests string) (io.Reader, error)

// goTest returns a rerun that uses `go test` with flags.
func goTest(flags []string) rerun {
	return func(pkg, tests string) (io.Reader, error) {
		command := exec.Command("go", slices.Concat([]string{"test", "-json"}, flags, []string{"-run", tests, pkg})...)
		command.Stderr = os.Stderr
		events, err := command.StdoutPipe()
		if err != nil {
			return nil, err
		}
		return events, command.Start()
	}
}

// retry runs failed tests a second time. Those that pass then count as unstable and not as failed.
// Nothing is retried after a crash or a data race, if a package failed without a failed test, or if
// more than maxAgain tests failed.
func (r *report) retry() {
	tests := r.failedTests()
	if r.again == nil || tests == nil {
		return
	}
	for pkg, names := range tests {
		pattern := "^(" + strings.Join(names, "|") + ")$"
		fmt.Fprintf(r.out, "%s  again    %s %s\n", clock(r.now().Sub(r.began)), strings.TrimPrefix(pkg, r.trim), pattern)
		events, err := r.again(pkg, pattern)
		if err != nil {
			fmt.Fprintln(r.out, err)
			continue
		}
		second := newReport(io.Discard, r.trim, false, time.Now)
		second.read(events)
		second.unfinished()
		if len(second.failed) == 0 && len(second.tests) == len(names) && second.skipped == 0 {
			r.failed = slices.DeleteFunc(r.failed, func(key name) bool {
				if key.Package != pkg {
					return false
				}
				r.unstable = append(r.unstable, key)
				return true
			})
		}
	}
}

// failedTests returns the names of failed tests by package, or nil if they must not be retried.
func (r *report) failedTests() map[string][]string {
	out, n := map[string]map[string]bool{}, 0
	for _, key := range r.failed {
		if crashed.MatchString(strings.Join(r.output[key], "")) {
			return nil
		}
		if out[key.Package] == nil {
			out[key.Package] = map[string]bool{}
		}
		if top, _, _ := strings.Cut(key.Test, "/"); top != "" && !out[key.Package][top] {
			out[key.Package][top] = true
			n++
		}
	}
	tests := map[string][]string{}
	for pkg, names := range out {
		if len(names) == 0 {
			return nil
		}
		tests[pkg] = slices.Sorted(maps.Keys(names))
	}
	if n == 0 || n > maxAgain {
		return nil
	}
	return tests
}
