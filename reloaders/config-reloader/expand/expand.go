// Package expand replaces references to environment variables in a stream.
//
// Kubernetes is the dialect of generated configuration files: only $(NAME) is a reference. Other
// dollar signs are left unchanged, because the same files have $1 and ${1} in relabel
// replacements, $ in regular expressions and $labels in templates:
//
//	x$(A)y      value of A between x and y, even if it is empty
//	$(UNSET)    unchanged, and reported
//	$$(A)       a dollar sign and the value: there is no escape
//	$($(A))     "$(" value ")": values are not expanded again
//
// Shell is for files that were written for it: $V, ${V}, ${V:-default}, $$.
//
// The values come from github.com/a8m/envsubst. Its scanner only gets single tokens and never a
// whole file, because it would take the other dollar signs for references, and its run time is
// quadratic in the size of the text.
package expand

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/a8m/envsubst/parse"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// Syntax is a dialect of references.
type Syntax string

// The dialects.
const (
	Kubernetes Syntax = "kubernetes"
	Shell      Syntax = "shell"
)

// Syntaxes lists the dialects, the default first.
var Syntaxes = []string{string(Kubernetes), string(Shell)}

const (
	// bufferSize is the initial size of the buffer; it is sufficient for the longest name.
	bufferSize = 32 << 10
	// maxUnset is the maximum number of names of unset variables that are collected. Authors of
	// configurations choose them.
	maxUnset = 100
	// maxLine is the maximum length of a line in the Shell dialect in bytes. The engine takes a hundred
	// times as much memory.
	maxLine = 1 << 20
)

// Others is the name in [Unset] for the variables beyond the first ones.
const Others = "(others)"

// Unset counts references to variables that are not set, by name.
type Unset map[string]int

// add counts a reference.
func (u Unset) add(name []byte) {
	if _, known := u[string(name)]; known || len(u) < maxUnset {
		u[string(name)]++
		return
	}
	u[Others]++
}

// Total returns the number of references.
func (u Unset) Total() (n int) {
	for _, c := range u {
		n += c
	}
	return n
}

// Names returns the sorted names.
func (u Unset) Names() []string { return slices.Sorted(maps.Keys(u)) }

// Expander expands references with one environment. It is not safe for concurrent use.
type Expander struct {
	syntax Syntax
	env    parse.Env
	names  map[string]bool  // set variables
	values map[string]value // of those that were referred to
	buf    []byte
}

type value struct {
	text string
	set  bool
}

// New returns an expander for the environment env ("NAME=value"; the first of equal names wins).
func New(syntax Syntax, env []string) *Expander {
	e := &Expander{syntax: syntax, env: env, names: map[string]bool{}, values: map[string]value{}}
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		e.names[name] = true
	}
	return e
}

// Expand copies src to dst and replaces all references.
//
// Errors: those of reading and writing, unchanged; in the Shell dialect also an unterminated
// reference. The partial output in dst must then be discarded.
func (e *Expander) Expand(dst io.Writer, src io.Reader) (Unset, error) {
	if e.syntax == Shell {
		return nil, e.shell(dst, src)
	}
	return e.kubernetes(dst, src)
}

// lookup returns the value of a variable from the engine, once per name. Names of unset variables are not
// kept: there may be any number of them.
func (e *Expander) lookup(name []byte) (value, error) {
	if !e.names[string(name)] {
		return value{}, nil
	}
	if v, ok := e.values[string(name)]; ok {
		return v, nil
	}
	var v value
	var err error
	if v.text, v.set = e.env.Lookup(string(name)); v.set && string(name) != "_" { // the engine does not expand ${_}
		v.text, err = parse.New("config", e.env, parse.Relaxed).Parse("${" + string(name) + "}")
	}
	if err != nil {
		return v, fmt.Errorf("expand $(%s): %w", name, err)
	}
	e.values[string(name)] = v
	return v, nil
}

// kubernetes expands a window of the stream at a time. It keeps the possible start of a reference
// at the end of the window until more is read.
func (e *Expander) kubernetes(dst io.Writer, src io.Reader) (Unset, error) {
	unset := Unset{}
	if e.buf == nil {
		e.buf = make([]byte, bufferSize)
	}
	buf, n := e.buf, 0
	for {
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		m, readErr := src.Read(buf[n:])
		n += m
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return unset, readErr
		}
		kept, err := e.window(dst, buf[:n], readErr != nil, unset)
		if err != nil {
			return unset, err
		}
		if readErr != nil {
			return unset, nil
		}
		n = copy(buf, buf[n-kept:n])
	}
}

// window writes b expanded. It returns the number of bytes at its end that are undecided, 0 at the
// end of the stream.
func (e *Expander) window(dst io.Writer, b []byte, last bool, unset Unset) (kept int, err error) {
	done := 0 // number of written bytes
	for at := 0; at < len(b); {
		i := bytes.IndexByte(b[at:], '$')
		if i < 0 {
			break
		}
		start := at + i
		end, state := variables.Parse(b[start:])
		if state == variables.Undecided && !last {
			_, err := dst.Write(b[done:start])
			return len(b) - start, err
		}
		at = start + 1
		if state != variables.Reference {
			continue
		}
		v, err := e.lookup(variables.Name(b[start : start+end]))
		if err != nil {
			return 0, err
		}
		at = start + end
		if !v.set {
			unset.add(variables.Name(b[start:at]))
			continue
		}
		if _, err := dst.Write(b[done:start]); err != nil {
			return 0, err
		}
		if _, err := io.WriteString(dst, v.text); err != nil {
			return 0, err
		}
		done = at
	}
	_, err = dst.Write(b[done:])
	return 0, err
}

// shell expands line by line with the engine.
func (e *Expander) shell(dst io.Writer, src io.Reader) error {
	r := bufio.NewReaderSize(src, bufferSize)
	for n := 1; ; n++ {
		line, readErr := readLine(r)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			if errors.Is(readErr, errLongLine) {
				readErr = fmt.Errorf("line %d: %w", n, readErr)
			}
			return readErr
		}
		text, newline := strings.CutSuffix(line, "\n")
		if strings.ContainsRune(text, '$') {
			var err error
			if text, err = parse.New("config", e.env, parse.Relaxed).Parse(text); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		if newline {
			text += "\n"
		}
		if _, err := io.WriteString(dst, text); err != nil {
			return err
		}
		if readErr != nil {
			return nil
		}
	}
}

var errLongLine = fmt.Errorf("longer than %d bytes", maxLine)

// readLine returns the next line with its end.
//
// Errors: those of reading, with the rest of the text; errLongLine.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return "", errLongLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}
