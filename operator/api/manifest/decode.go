package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest/plainyaml"
)

// FieldError is an error of one field.
type FieldError struct {
	Path       string // as the user wrote it: "spec.endpoints[0].intervall"
	Reason     string // "unknown field", "duplicate field", "want a number, got a string"
	Suggestion string // a known field with a similar name, may be empty
	Hint       string // what to write instead, may be empty; it replaces Suggestion and Elsewhere
	// Elsewhere is the path of an object that does have an unknown field: one level too
	// high or too deep. It is empty if there is none or if there are several.
	Elsewhere string
	// Type is the expected type at the path; for an unknown field, the struct that does not
	// have it. Value is the actual value.
	Type  reflect.Type
	Value any
}

// Error returns the path, the reason and the suggestion in one line.
func (e *FieldError) Error() string {
	text := e.Reason
	if path := e.Path; path != "" {
		text = excerpt.Of(path, budget.PathBytes) + ": " + text
	}
	switch {
	case e.Hint != "":
		text += ": " + e.Hint
	case e.Elsewhere != "":
		text += ", it belongs to " + e.Elsewhere
	case e.Suggestion != "":
		text += `, did you mean "` + e.Suggestion + `"?`
	}
	return text
}

// Located returns path and reason, with the suggestion.
func (e *FieldError) Located() (field, reason string) {
	return e.Path, (&FieldError{Reason: e.Reason, Suggestion: e.Suggestion, Hint: e.Hint, Elsewhere: e.Elsewhere}).Error()
}

// Unknown reports whether the type does not have the field.
func (e *FieldError) Unknown() bool { return e.Reason == unknownField }

// Meant returns the path with the name replaced by the suggestion, or "" without a
// suggestion.
func (e *FieldError) Meant() string {
	switch i := strings.LastIndexByte(e.Path, '.'); {
	case e.Suggestion == "":
		return ""
	case i < 0:
		return e.Suggestion
	default:
		return Child(e.Path[:i], e.Suggestion)
	}
}

// Decode decodes a YAML or JSON document strictly into the struct that into points to.
//
// Errors: text that is neither; *[AliasError]; otherwise one *FieldError for each field
// that is unknown, duplicate or has the wrong type, joined and sorted by path. After an
// error the struct must not be used.
func Decode(raw []byte, into any) error {
	text, err := toJSON(raw)
	if err != nil {
		return err
	}
	return DecodeJSON(text, into)
}

// DecodeJSON is like [Decode], for a document that is JSON.
func DecodeJSON(text []byte, into any) error {
	var (
		strict []error
		err    error
	)
	if largeQuantity(text, reflect.TypeOf(into)) {
		err = errExponent
	} else {
		strict, err = kjson.UnmarshalStrict(text, into)
	}
	if len(strict) == 0 && err == nil {
		return nil
	}
	if syntax, _ := kjson.SyntaxErrorOffset(err); syntax {
		return err
	}
	faults := append(duplicates(strict), new(walker).compare(text, into)...)
	if len(faults) == 0 { // such as a number that is too large
		return cmp.Or(err, errors.Join(strict...))
	}
	return join(faults)
}

// DecodeKnown decodes JSON from an API server into the struct that into points to. Unknown
// fields are ignored, because the CRDs of the API server may be newer.
//
// Errors: text that is not JSON; otherwise one *FieldError for each field with the wrong
// type, joined and sorted by path. After an error the struct must not be used.
func DecodeKnown(raw []byte, into any) error {
	err := decode(raw, into)
	if syntax, _ := kjson.SyntaxErrorOffset(err); err == nil || syntax {
		return err
	}
	faults := (&walker{newer: true}).compare(raw, into)
	if len(faults) == 0 {
		return err
	}
	return join(faults)
}

// compare returns the differences between a document and a type.
func (w *walker) compare(text []byte, into any) []*FieldError {
	var document any
	if kjson.UnmarshalCaseSensitivePreserveInts(text, &document) != nil {
		return nil
	}
	w.value("", document, reflect.TypeOf(into))
	return w.faults
}

// toJSON converts to JSON. It returns JSON unchanged, because parsing it as YAML is many
// times slower.
func toJSON(raw []byte) ([]byte, error) {
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] == '{' {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, new(any)); err == nil {
			return text, nil // otherwise it is flow-style YAML, or an error with a better message from YAML
		}
	}
	if err := new(Aliases).Check(raw); err != nil {
		return nil, err
	}
	return plainyaml.ToJSON(raw)
}

// duplicates returns the errors for duplicate JSON fields. In YAML they are a syntax error.
func duplicates(strict []error) []*FieldError {
	var out []*FieldError
	for _, err := range strict {
		at, ok := errors.AsType[kjson.FieldError](err)
		if ok && strings.HasPrefix(err.Error(), "duplicate field") {
			out = append(out, &FieldError{Path: at.FieldPath(), Reason: "duplicate field"})
		}
	}
	return out
}

func join(faults []*FieldError) error {
	slices.SortStableFunc(faults, func(a, b *FieldError) int { return cmp.Compare(a.Path, b.Path) })
	all := make([]error, len(faults))
	for i, fault := range faults {
		all[i] = fault
	}
	return errors.Join(all...)
}
