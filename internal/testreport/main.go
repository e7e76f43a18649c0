// Testreport reads the events of `go test -json` from its standard input and prints a line
// for each package as it ends, then the slowest packages and tests, and last which tests
// failed and what each said, without the logs of programs.
//
// It exits with 1 if a test or a build failed, or if there was no event at all.
package main

import (
	"bufio"
	"flag"
	"io"
	"os"
	"time"
)

func main() {
	slowest := flag.Int("slowest", 10, "number of slowest packages and tests to list")
	trim := flag.String("trim", "", "prefix to leave out of package names")
	flag.Parse()
	if !run(os.Stdin, os.Stdout, *slowest, *trim) {
		os.Exit(1)
	}
}

// run reports on the events of in, and returns whether everything passed.
func run(in io.Reader, out io.Writer, slowest int, trim string) bool {
	r := newReport(out, trim, time.Now)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			break
		}
	}
	return r.end(slowest)
}
