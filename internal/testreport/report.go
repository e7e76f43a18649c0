package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is an event of `go test -json` for a test, a package or a build.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a build
	Test        string
	Elapsed     float64 // in seconds
	Output      string
	FailedBuild string
}

// name identifies a test of a package; an empty Test means the package.
type name struct{ Package, Test string }

// took is the duration of a package or test.
type took struct {
	name
	seconds float64
}

// report collects results.
type report struct {
	out   io.Writer
	trim  string
	each  bool // print a line for each test, too
	now   func() time.Time
	began time.Time

	output   map[name][]string // output of packages and tests that have not passed yet
	builds   map[string][]string
	loose    []string // lines that are not events
	packages []took
	tests    []took
	skipped  int
	failed   []name
	exit     bool // go test itself reported a failure

	again    rerun // nil disables retries
	unstable []name
}

func newReport(out io.Writer, trim string, each bool, now func() time.Time) *report {
	return &report{out: out, trim: trim, each: each, now: now, began: now(), output: map[name][]string{}, builds: map[string][]string{}}
}

// line processes one line of the input.
func (r *report) line(raw []byte) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil || e.Action == "" {
		r.loose = append(r.loose, string(raw))
		fmt.Fprint(r.out, string(raw))
		return
	}
	key := name{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
	case "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case "pass", "skip", "fail":
		r.result(key, e)
	case "failed": // the whole command, as reported by its caller
		r.exit = true
	}
}

// result records the result of a test or package.
func (r *report) result(key name, e event) {
	if e.Action == "fail" {
		r.failed = append(r.failed, key)
		if e.FailedBuild != "" {
			r.output[key] = append(r.output[key], r.builds[e.FailedBuild]...)
		}
	} else {
		delete(r.output, key)
	}
	switch {
	case e.Test == "" && e.Action == "skip": // no test files
	case e.Test == "":
		r.packages = append(r.packages, took{key, e.Elapsed})
		r.progress(key, e)
	case !strings.Contains(e.Test, "/"):
		r.tests = append(r.tests, took{key, e.Elapsed})
		if e.Action == "skip" {
			r.skipped++
		}
		if r.each {
			r.progress(key, e)
		}
	}
}

// progress prints the line of a finished test or package.
func (r *report) progress(key name, e event) {
	word := map[string]string{"pass": "ok", "skip": "skip", "fail": "FAIL"}[e.Action]
	fmt.Fprintf(r.out, "%s  %-4s %6.1fs  %s\n", clock(r.now().Sub(r.began)), word, e.Elapsed, r.short(key))
}

// end prints the slowest packages and tests and the failures, and returns whether
// everything passed.
func (r *report) end(slowest int) bool {
	r.slowest("packages", r.packages, slowest)
	r.slowest("tests", r.tests, slowest)
	r.unfinished()
	r.retry()
	for _, key := range r.failed {
		r.failure("FAIL", key)
	}
	for _, key := range r.unstable {
		r.failure("UNSTABLE, passed when run again:", key)
	}
	passed, failed := r.counts()
	fmt.Fprintf(r.out, "\n%d packages in %s\n%d passed, %d failed", len(r.packages), clock(r.now().Sub(r.began)), passed, failed)
	if r.skipped > 0 {
		fmt.Fprintf(r.out, ", %d skipped", r.skipped)
	}
	if len(r.unstable) > 0 {
		fmt.Fprint(r.out, ", some passed only when run again")
	}
	fmt.Fprintln(r.out)
	if r.exit && len(r.failed)+len(r.unstable) == 0 {
		fmt.Fprintln(r.out, "go test failed for another reason than a test")
		return false
	}
	return len(r.packages) > 0 && len(r.failed) == 0
}

// unfinished marks packages and tests that have output but no result as failed: the test
// binary was killed.
func (r *report) unfinished() {
	failed := map[string]bool{}
	for _, key := range r.failed {
		failed[key.Package] = true
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.output), func(a, b name) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test))
	}) {
		if !slices.Contains(r.failed, key) && (key.Test != "" || !failed[key.Package]) {
			r.failed = append(r.failed, key)
		}
	}
}

// counts returns the number of tests that passed and that failed. A package that failed
// without a failed test counts as one. Subtests count as their top-level test.
func (r *report) counts() (passed, failed int) {
	passed = len(r.tests) - r.skipped
	ended := map[name]bool{}
	for _, t := range r.tests {
		ended[t.name] = true
	}
	tests, packages := map[name]bool{}, map[string]bool{}
	for _, key := range r.failed {
		if key.Test != "" {
			top, _, _ := strings.Cut(key.Test, "/")
			tests[name{key.Package, top}], packages[key.Package] = true, true
		}
	}
	for key := range tests {
		if ended[key] {
			passed--
		}
	}
	failed = len(tests)
	for _, key := range r.failed {
		if !packages[key.Package] {
			failed++
		}
	}
	return passed, failed
}

// slowest prints the n slowest entries of list.
func (r *report) slowest(what string, list []took, n int) {
	slices.SortStableFunc(list, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	if n > len(list) {
		n = len(list)
	}
	if n == 0 {
		return
	}
	fmt.Fprintf(r.out, "\nslowest %s:\n", what)
	for _, t := range list[:n] {
		fmt.Fprintf(r.out, "%8.1fs  %s\n", t.seconds, r.short(t.name))
	}
}

// failure prints the output of a failed test.
func (r *report) failure(result string, key name) {
	fmt.Fprintf(r.out, "\n%s %s\n", result, r.short(key))
	said := shortened(strings.Join(r.output[key], ""), key.Test != "")
	fmt.Fprint(r.out, said)
	if said != "" && !strings.HasSuffix(said, "\n") {
		fmt.Fprintln(r.out)
	}
}

func (r *report) short(key name) string {
	s := strings.TrimPrefix(key.Package, r.trim)
	if key.Test != "" {
		s += " " + key.Test
	}
	return s
}

// clock formats a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%2dm%02ds", s/60, s%60)
}
