// Package logtest captures the log of a program under test.
package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Log is a buffer that is safe for concurrent use. The zero value is empty.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the captured text.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Take returns the captured text and clears the buffer.
func (l *Log) Take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.buf.Reset()
	return l.buf.String()
}

// Keep writes the captured text to a new file outside of a test's folders, and returns its name. pattern is that of
// [os.CreateTemp].
//
// Errors: those of the file.
func (l *Log) Keep(pattern string) (name string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(l.String())
	return f.Name(), errors.Join(err, f.Close())
}

// Brief returns the last lines without debug messages, which would hide the failure of a
// test. Lines in another format, such as stack traces, are included.
func (l *Log) Brief(lines int) string {
	const longest = 300 // bytes of a line
	all := strings.Split(strings.TrimSuffix(l.String(), "\n"), "\n")
	out := slices.DeleteFunc(slices.Clone(all), func(line string) bool { return strings.Contains(line, "level=debug ") })
	out = out[max(0, len(out)-lines):]
	for i, line := range out {
		out[i] = excerpt.Of(line, longest)
	}
	return fmt.Sprintf("%d of %d lines:\n%s", len(out), len(all), strings.Join(out, "\n"))
}
