package manifests

import (
	"errors"
	"strconv"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// FileError is the error of a file that cannot be read as a whole.
type FileError struct {
	File string
	Err  error
}

// Error returns file and reason in one line.
func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// SyntaxError is the error of a document that is not YAML.
type SyntaxError struct {
	Line   int    // in the document, from 1; 0 if unknown
	Reason string // without the line
	text   string
	err    error
}

// Error returns line and reason, in the words of the YAML library.
func (e *SyntaxError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.err }

// yamlLine matches the position in an error of the YAML library, which has no field for it.
var yamlLine = lazyregexp.New(`\bline (\d+): `)

// syntaxErrors returns one [SyntaxError] for each joined error.
func syntaxErrors(err error) error {
	var out []error
	for _, one := range faults.Leaves(err) {
		out = append(out, newSyntaxError(one))
	}
	return errors.Join(out...)
}

func newSyntaxError(err error) error {
	text := err.Error()
	out := &SyntaxError{Reason: text, text: text, err: err}
	if m := yamlLine.Get().FindStringSubmatchIndex(text); m != nil {
		out.Line, _ = strconv.Atoi(text[m[2]:m[3]]) // valid by the regular expression, 0 if out of range
		out.Reason = text[:m[0]] + text[m[1]:]
	}
	return out
}
