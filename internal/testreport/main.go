// Testreport reads the events of `go test -json` from standard input. It prints a line for each package when it ends,
// then the slowest packages and tests, the failed tests with their output (without the logs of programs), and finally
// how many tests passed, failed and were skipped.
//
// It exits with 1 if a test or a build failed, after retries if -again is set, or if no package was tested.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	slowest := flag.Int("slowest", 10, "number of slowest packages and tests to list")
	trim := flag.String("trim", "", "prefix to leave out of package names")
	each := flag.Bool("each", false, "print a line for each test as well")
	events := flag.String("events", "", "file to keep all events in, with everything that tests said")
	again := flag.String("again", "", "run up to three failed tests a second time, with these flags of go test; those that pass then are listed as unstable")
	flag.Parse()
	in := io.Reader(os.Stdin)
	if *events != "" {
		f, err := create(*events)
		if err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(2)
		}
		in = io.TeeReader(in, f)
	}
	r := newReport(os.Stdout, *trim, *each, time.Now)
	if *again != "" {
		r.again = goTest(strings.Fields(*again))
	}
	if !run(in, r, *slowest) {
		os.Exit(1)
	}
}

// create creates a file and its parent directory.
func create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// run reads the events from in, prints the report, and returns whether everything passed.
func run(in io.Reader, r *report, slowest int) bool {
	r.read(in)
	return r.end(slowest)
}

// read processes all lines of in.
func (r *report) read(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			return
		}
	}
}
